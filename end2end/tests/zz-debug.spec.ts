import { expect, test, newContext } from "../support/browser";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
test("debug", async ({ browser }) => {
  const context = await newContext(browser);
  const page = await context.newPage();
  page.on("console", (m) => console.log("CONSOLE", m.type(), m.text().slice(0, 200)));
  page.on("pageerror", (e) => console.log("ERR", String(e).slice(0, 200)));
  await signIn(page, "ada", "/oauth2/project");
  for (const p of ["/oauth2/sign_out", path.project(), path.clusterPage(), path.clusterPage()+"/kinds", path.clusterPage()+"/namespaces", path.accessPage(), path.list("core/v1/pods"), path.deployment("shop","storefront"), path.project()+"/apps/registry"]) {
    console.log("==", p); await page.goto(p); await page.waitForTimeout(2000);
  }
  expect(1).toBe(1);
});
