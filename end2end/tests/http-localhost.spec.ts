// The demo's plain HTTP, where a browser opens six connections to a host and no more.
import { expect, newContext, test } from "../support/browser";
import { optionalSetting, porticoUrl } from "../support/env";
import * as path from "../support/paths";
import { account, enter } from "../support/sign-in";
import { createPod, removePod, unique } from "../support/workloads";

const plainUrl = porticoUrl.startsWith("http:") ? porticoUrl : optionalSetting("PORTICO_PLAIN_URL");

test("eight live tabs work over plain HTTP", async ({ browser }) => {
  expect(plainUrl, "the stack must serve plain HTTP").toBeTruthy();
  test.setTimeout(120_000);
  const context = await newContext(browser, { baseURL: plainUrl as string });
  const first = await context.newPage();
  await first.goto(path.list("core/v1/pods", "namespace=shop"));
  await enter(first, account("devi"));
  const tabs = [first];
  while (tabs.length < 8) tabs.push(await context.newPage());
  for (const tab of tabs) {
    const socket = tab.waitForEvent("websocket");
    await tab.goto(path.list("core/v1/pods", "namespace=shop"));
    await expect(tab.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
    await socket;
  }
  const name = unique("eight");
  try {
    await createPod("shop", name);
    for (const tab of tabs) await expect(tab.getByRole("link", { name })).toBeVisible({ timeout: 5_000 });
  } finally {
    await removePod("shop", name);
  }
  // and there is still a connection left for going on
  const last = tabs[7] as (typeof tabs)[number];
  await last.goto(path.project());
  await expect(last.getByRole("main").getByText("acme-prod").first()).toBeVisible();
  await context.close();
});

test("the cookie is the plain one, and only on loopback", async ({ browser }) => {
  expect(plainUrl, "the stack must serve plain HTTP").toBeTruthy();
  const context = await newContext(browser, { baseURL: plainUrl as string });
  const page = await context.newPage();
  await page.goto("/oauth2/sign_in");
  await enter(page, account("vera"));
  await expect(page).not.toHaveURL(/\/oauth2\//);
  const cookie = (await context.cookies()).find(({ name }) => name === "portico");
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/", domain: "localhost" });
  await context.close();
});
