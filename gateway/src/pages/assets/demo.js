// Fills the sign-in form of the demonstration by a click on one of its users.
const users = document.getElementById("demo-users");
users.hidden = false;
users.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-user]") : null;
  if (!button) return;
  const answer = await fetch("/oauth2/demo/password", { cache: "no-store" });
  const { password } = answer.ok ? await answer.json() : { password: "" };
  document.getElementById("password").value = password;
  document.getElementById("name").value = button.dataset.user;
  document.getElementById("sign-in").focus();
});
