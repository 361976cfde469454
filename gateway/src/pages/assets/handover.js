// Sends the hand-over form by itself; without scripts its button does.
document.getElementById("handover")?.submit();
