import { expect, test } from "../support/browser";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
test("debug", async ({ page }) => {
  page.on("console", (m) => console.log("CONSOLE", m.type(), m.text().slice(0, 600)));
  page.on("pageerror", (e) => console.log("ERR", String(e).slice(0, 600), e.stack?.slice(0,800)));
  page.on("requestfailed", (r) => console.log("FAILED", r.url(), r.failure()?.errorText));
  page.on("websocket", (s) => { console.log("WS", s.url()); s.on("framereceived", f => console.log("<", String(f.payload).slice(0,200))); s.on("framesent", f => console.log(">", String(f.payload).slice(0,200))); s.on("close", () => console.log("WS closed")); s.on("socketerror", e => console.log("WS error", e)); });
  await signIn(page, "vera", process.env.P ?? path.list("core/v1/pods", "namespace=shop"));
  await page.waitForTimeout(6000);
  expect(1).toBe(1);
});
