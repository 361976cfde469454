// What pages show once they no longer wait for a cluster whose API server takes calls and does not answer.
import { expect, test } from "../support/browser";
import * as address from "../support/paths";
import { account, signIn } from "../support/sign-in";
import { frozen } from "../support/stack";

test("a cluster that does not answer is marked so, and the rest of the page works", async ({ browser }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, account("devi"), address.project("globex"));
  await frozen("globex-dev/kube-apiserver", async () => {
    await page.goto(address.project("globex"));
    await expect(page.getByRole("main").getByText(/does not answer|cannot be reached|did not answer/i).first()).toBeVisible({ timeout: 15_000 });
    await page.goto(address.list("apps/v1/deployments", "", "globex-dev"));
    await expect(page.getByRole("main").getByText(/does not answer|cannot be reached|did not answer/i).first()).toBeVisible({ timeout: 20_000 });
  });
  await context.close();
});
