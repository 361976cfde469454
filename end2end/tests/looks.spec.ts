// One appearance from the sign-in page to the terminal: tokens, the chosen theme, widths, contrast modes, motion, focus.
import type { Browser, BrowserContextOptions, Page } from "@playwright/test";
import { axe } from "../support/accessibility";
import { expect, newContext, takeComplaints, test } from "../support/browser";
import { homeProject, projectId } from "../support/env";
import { interactive } from "../support/interactive";
import { podThatRuns } from "../support/page-check";
import { casesOf, gatewayPages } from "../support/page-states";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { signedIn, signIn as signInByForm } from "../support/sign-in";

test.describe.configure({ mode: "parallel" });

const home = `/projects/${projectId(homeProject("ada"))}`;
const loading = "[data-state=loading]";

async function page(browser: Browser, options?: BrowserContextOptions, to = home): Promise<Page> {
  const context = await newContext(browser, options);
  const made = await context.newPage();
  await signIn(made, "ada", to);
  return made;
}

async function settle(page: Page, to: string) {
  await page.goto(to);
  await expect(page.getByRole("main")).toBeVisible();
  await expect(page.locator(loading)).toHaveCount(0, { timeout: 20_000 });
}

/** The computed value of each custom property of the style sheet's `:root` rules. */
function tokens(page: Page): Promise<Record<string, string>> {
  return page.evaluate(() => {
    const names = new Set<string>();
    const walk = (rules: CSSRuleList) => {
      for (const rule of Array.from(rules)) {
        if (rule instanceof CSSStyleRule && rule.selectorText === ":root") {
          for (const name of Array.from(rule.style)) if (name.startsWith("--")) names.add(name);
        }
        if (rule instanceof CSSGroupingRule && !(rule instanceof CSSLayerBlockRule)) walk(rule.cssRules);
      }
    };
    for (const sheet of Array.from(document.styleSheets)) walk(sheet.cssRules);
    const computed = getComputedStyle(document.documentElement);
    // as a minified style sheet writes them
    const short = (value: string) =>
      value
        .replaceAll(/\s+/g, "")
        .replaceAll(/#([0-9a-f])\1([0-9a-f])\2([0-9a-f])\3(?![0-9a-f])/gi, "#$1$2$3")
        .replaceAll(/(?<![0-9.])0\./g, ".");
    return Object.fromEntries([...names].sort().map((name) => [name, short(computed.getPropertyValue(name))]));
  });
}

const appearance = (page: Page) =>
  page.evaluate(() => {
    const body = getComputedStyle(document.body);
    const title = getComputedStyle(document.querySelector("h1")!);
    const card = getComputedStyle(document.querySelector(".card")!);
    return {
      background: getComputedStyle(document.documentElement).backgroundColor,
      text: body.color,
      font: `${body.fontSize} ${body.fontFamily}`,
      title: `${title.fontSize} ${title.fontWeight}`,
      card: `${card.backgroundColor} ${card.borderRadius} ${card.borderTopColor}`,
      logo: Array.from(document.querySelectorAll(".brand svg path")).map((part) => part.getAttribute("d")),
    };
  });

async function choose(page: Page, label: string) {
  await interactive(page);
  await page.locator("[popovertarget=user-menu]").click();
  await page.getByRole("button", { name: label }).click();
  await page.keyboard.press("Escape");
}

test("finding P16: the gateway's pages and the panel share tokens, type, cards and the logo", async ({ browser }) => {
  const panel = await page(browser);
  for (const colorScheme of ["light", "dark"] as const) {
    await panel.emulateMedia({ colorScheme });
    await settle(panel, home);
    const [ofPanel, looks] = [await tokens(panel), await appearance(panel)];
    expect(Object.keys(ofPanel).length).toBeGreaterThan(50);
    await panel.goto("/oauth2/sessions");
    const ofGateway = await tokens(panel);
    // Tailwind adds names of its own to the panel's; none of the gateway's may differ or be missing
    expect(Object.fromEntries(Object.keys(ofGateway).map((name) => [name, ofPanel[name]]))).toEqual(ofGateway);
    expect(Object.keys(ofGateway).length).toBeGreaterThan(50);
    expect(await appearance(panel)).toEqual(looks);
  }
  await panel.context().close();
});

test("finding P16: the chosen theme holds on the gateway's pages, after sign-out and without scripts", async ({ browser }) => {
  const panel = await signedIn(browser, "ada", home, { colorScheme: "light" });
  const dark = "rgb(13, 16, 21)";
  const background = (of: Page) => of.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await choose(panel, "Dark");
  expect(await background(panel)).toBe(dark);
  await settle(panel, home);
  expect(await background(panel)).toBe(dark);
  for (const to of ["/oauth2/sessions", "/oauth2/audit", "/oauth2/there-is-no-such-page", "/oauth2/sign_out"]) {
    await panel.goto(to);
    expect(await background(panel), to).toBe(dark);
  }
  const cookie = (await panel.context().cookies()).find(({ name }) => name === "portico-theme");
  expect(cookie).toMatchObject({ value: "dark", path: "/", sameSite: "Lax" });
  await panel.getByRole("button", { name: "Sign out" }).click();
  await expect(panel.getByRole("heading", { name: "You are signed out" })).toBeVisible();
  await panel.goto("/oauth2/sign_in");
  expect(await background(panel)).toBe(dark);

  const cookies = (await panel.context().cookies()).filter(({ name }) => name === "portico-theme");
  const plain = await newContext(browser, { colorScheme: "light", javaScriptEnabled: false });
  await plain.addCookies(cookies);
  const scriptless = await plain.newPage();
  await scriptless.goto("/oauth2/sign_in");
  await expect(scriptless.locator("html")).toHaveAttribute("data-theme", "dark");
  await plain.close();

  await signInByForm(panel, "ada", home);
  await choose(panel, "As the system");
  await panel.goto("/oauth2/sessions");
  expect(await background(panel)).not.toBe(dark);
  await panel.context().close();
});

test("what is well has no colour; what needs attention has an icon, words, colour and weight", async ({ browser }) => {
  const panel = await page(browser);
  await settle(panel, path.list("core/v1/pods"));
  const states = await panel.locator("td .status").evaluateAll((all) =>
    all.map((state) => {
      const { color, fontWeight } = getComputedStyle(state);
      return { trouble: /is-(warn|bad)/.test(state.className), color, fontWeight: Number(fontWeight), shape: state.querySelector("svg")?.innerHTML ?? "", words: state.textContent ?? "" };
    }),
  );
  const text = await panel.evaluate(() => getComputedStyle(document.body).color);
  for (const state of states) {
    expect(state.shape, state.words).not.toBe("");
    expect(state.words.trim()).not.toBe("");
    expect(state.color === text, state.words).toBe(!state.trouble);
    expect(state.fontWeight >= 600, state.words).toBe(state.trouble);
  }
  const shapes = (trouble: boolean) => new Set(states.filter((state) => state.trouble === trouble).map(({ shape }) => shape));
  expect([...shapes(true)].filter((shape) => shapes(false).has(shape))).toEqual([]);
  expect(shapes(true).size).toBeGreaterThan(0);
  await panel.context().close();
});

test("entries of the navigation and page heads have the icon of their kind", async ({ browser }) => {
  const panel = await page(browser);
  await settle(panel, path.list("apps/v1/deployments"));
  const icon = (selector: string) => panel.locator(selector).first().evaluate((found) => found.innerHTML);
  const entries = panel.locator("#cluster-navigation .nav-item");
  expect(await entries.count()).toBe(await panel.locator("#cluster-navigation .nav-item > svg").count());
  const entry = await icon('#cluster-navigation .nav-item[aria-current="page"] > svg');
  expect(await icon(".page-title > svg")).toBe(entry);
  await settle(panel, path.deployment("shop", "storefront"));
  expect(await icon(".page-title > svg")).toBe(entry);
  await settle(panel, path.list("data.example.org/v1/backups"));
  expect(await icon(".page-title > svg")).not.toBe(entry);
  await panel.context().close();
});

test("finding P24: regions of a page differ by name", async ({ browser }) => {
  const panel = await page(browser);
  for (const to of [path.clusterPage(), path.authenticationPage(), path.accessPage(), path.deployment("shop", "storefront")]) {
    await settle(panel, to);
    const { violations } = await axe(panel).withRules(["landmark-unique"]).analyze();
    expect(violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)), to).toEqual([]);
  }
  await panel.context().close();
});

const widths = [320, 390, 1440, 2560];
test(`no page scrolls sideways at ${widths.join(", ")} px, light and dark`, async ({ browser }) => {
  test.setTimeout(240_000);
  const panel = await page(browser);
  const addresses = Object.values(casesOf(await podThatRuns()))
    .flatMap((cases) => cases.filter(({ state, user }) => state === "full" && user === "ada"))
    .map(({ path }) => path);
  for (const to of [...new Set(addresses), ...gatewayPages.map(({ path }) => path)]) {
    await settle(panel, to);
    // a change of the width costs more than one of the colours
    for (const width of widths) {
      await panel.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await panel.emulateMedia({ colorScheme });
        const sideways = () => panel.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        await expect.poll(sideways, { message: `${to} at ${width} px, ${colorScheme}` }).toBe(0);
      }
    }
  }
  await panel.context().close();
});

test("tables use the full width of a wide screen, and prose does not", async ({ browser }) => {
  const panel = await page(browser, { viewport: { width: 2560, height: 1200 } });
  await settle(panel, path.list("core/v1/pods"));
  const table = await panel.locator(".table-region").first().boundingBox();
  expect(table!.width).toBeGreaterThan(2200);
  await settle(panel, path.accessPage());
  const prose = await panel.locator(".page-lede").boundingBox();
  expect(prose!.width).toBeLessThan(800);
  await panel.context().close();
});

test("at 400 % zoom the page of a pod can be read and used", async ({ browser }) => {
  // 1280 × 1024 at 400 % is a window of 320 × 256 CSS pixels (WCAG 1.4.10)
  const panel = await page(browser, { viewport: { width: 320, height: 256 } });
  await settle(panel, path.pod("shop", await podThatRuns()));
  await panel.getByRole("link", { name: "Logs" }).click();
  await expect(panel.getByLabel("Container")).toBeVisible();
  expect(await panel.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  await panel.context().close();
});

test("with the system's own colours, focus, the current page and controls stay visible", async ({ browser }) => {
  const panel = await page(browser, { forcedColors: "active" });
  await settle(panel, path.list("core/v1/pods"));
  const system = await panel.evaluate(() => {
    const probe = document.createElement("span");
    document.body.append(probe);
    const colours = ["Highlight", "Canvas", "CanvasText"].map((name) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return colours;
  });
  const [highlight, canvas, canvasText] = system;
  const current = panel.locator('.nav-item[aria-current="page"]');
  expect(await current.evaluate((entry) => getComputedStyle(entry).borderTopColor)).toBe(highlight);
  expect(await panel.locator(".nav-item:not([aria-current])").first().evaluate((entry) => getComputedStyle(entry).borderTopColor)).toBe(canvas);
  // icons keep their shape in the colour of the text around them
  expect(await panel.locator("td .status svg").first().evaluate((icon) => getComputedStyle(icon).stroke)).not.toBe(canvas);
  await settle(panel, path.clusterPage());
  const bar = panel.locator("meter").first();
  expect(await bar.evaluate((meter) => getComputedStyle(meter).borderTopColor)).toBe(canvasText);
  await panel.keyboard.press("Tab");
  const ring = await panel.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(ring).toBe("solid");
  await panel.context().close();
});

test("with more contrast wanted, borders and the focus ring are stronger", async ({ browser }) => {
  const panel = await page(browser, { contrast: "more" });
  await settle(panel, home);
  expect(await panel.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--focus-width").trim())).toBe("3px");
  const border = () => panel.evaluate(() => getComputedStyle(document.querySelector(".card")!).borderTopColor);
  const strong = await border();
  await panel.emulateMedia({ contrast: "no-preference" });
  expect(await border()).not.toBe(strong);
  await panel.context().close();
});

test("with reduced motion nothing moves", async ({ browser }) => {
  const panel = await page(browser, { reducedMotion: "reduce" });
  for (const to of [home, path.clusterPage(), path.list("core/v1/pods"), path.pod("shop", await podThatRuns()), "/oauth2/sessions"]) {
    await settle(panel, to);
    const moving = await panel.evaluate(() =>
      Array.from(document.querySelectorAll("*")).flatMap((element) =>
        ["", "::before", "::after"].flatMap((part) => {
          const style = getComputedStyle(element, part || null);
          const still =
            (style.animationName === "none" || style.animationDuration === "0s") &&
            style.transitionDuration.split(", ").every((time) => time === "0s") &&
            style.scrollBehavior === "auto";
          return still ? [] : [`${element.tagName}${part}.${element.className}`];
        }),
      ),
    );
    expect(moving, to).toEqual([]);
  }
  await panel.context().close();
});

test("each stop of the keyboard shows a ring, on the panel's pages and the gateway's", async ({ browser }) => {
  const panel = await page(browser);
  for (const to of [home, path.list("core/v1/pods"), path.accessPage(), "/oauth2/sessions", "/oauth2/audit"]) {
    await settle(panel, to);
    const stops = new Set<string>();
    for (let step = 0; step < 30; step += 1) {
      await panel.keyboard.press("Tab");
      const stop = await panel.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return undefined;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return { what: element.outerHTML.slice(0, 120), ring: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2 };
      });
      if (!stop) break;
      stops.add(stop.what);
      expect(stop.ring, `${to}: ${stop.what}`).toBe(true);
    }
    // a list of sessions with nothing but this one has four
    expect(stops.size, to).toBeGreaterThan(3);
  }
  await panel.context().close();
});

test("the terminal takes its colours from the tokens, follows the theme, and keeps programs' colours legible", async ({ browser }) => {
  const panel = await page(browser, { colorScheme: "light" });
  await settle(panel, path.pod("shop", await podThatRuns(), "terminal"));
  await expect(panel.locator("portico-terminal[data-state=connected]")).toBeVisible({ timeout: 20_000 });
  const colours = () =>
    panel.evaluate(() => {
      const of = (selector: string) => getComputedStyle(document.querySelector(selector)!).backgroundColor;
      return [of(".terminal-host"), of("portico-terminal .xterm-scrollable-element")];
    });
  const [light, lightView] = await colours();
  expect(lightView).toBe(light);
  await choose(panel, "Dark");
  await expect.poll(async () => (await colours())[1]).not.toBe(lightView);
  const [dark, darkView] = await colours();
  expect(darkView).toBe(dark);

  await panel.locator("portico-terminal").click();
  // black, and a blue that the dark background would swallow
  await panel.keyboard.type("printf '\\033[30mb%s\\033[0m \\033[38;2;0;0;90md%s\\033[0m\\n' lack eep\n");
  const colour = (text: string) =>
    panel.locator("portico-terminal .xterm-rows span", { hasText: new RegExp(`^${text}$`) }).evaluate((cell) => getComputedStyle(cell).color);
  const luminance = (rgb: string) => {
    const [red = 0, green = 0, blue = 0] = (rgb.match(/\d+/g) ?? []).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (const text of ["black", "deep"]) {
    const contrast = (luminance(await colour(text)) + 0.05) / (luminance(dark ?? "") + 0.05);
    expect(contrast, text).toBeGreaterThanOrEqual(4.4);
  }
  expect(takeComplaints(panel.context())).toEqual([]);
  await panel.context().close();
});
