import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'

/** How wide a window is, and whether its user prefers dark pages. */
export interface Window {
  readonly width: number
  readonly height: number
  readonly theme: 'light' | 'dark'
}

export const windows = {
  'a phone, light': { width: 390, height: 844, theme: 'light' },
  'a phone, dark': { width: 390, height: 844, theme: 'dark' },
  'a wide window, light': { width: 1440, height: 900, theme: 'light' },
  'a wide window, dark': { width: 1440, height: 900, theme: 'dark' },
} as const satisfies Readonly<Record<string, Window>>

export function startBrowser(): Promise<Browser> {
  const { CHROMIUM } = process.env
  if (CHROMIUM === undefined) throw new Error('run this with npm run test:browser, which finds the browser')
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** The page, in a window whose animations stand still. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('close', () => {
    if (faults.length > 0) throw new Error(`the script of the page failed: ${faults.join('; ')}`)
  })
  await page.goto(url)
  return page
}

export async function showIn(page: Page, { width, height, theme }: Window): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
}

/** What axe finds wrong, in one line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary].join(': '))))`,
  )
}

/** By how many pixels the page is wider than its window, and what is too wide. */
export function overflow(page: Page): Promise<{ readonly pixels: number; readonly by: readonly string[] }> {
  return page.evaluate(`(() => {
    const width = document.documentElement.clientWidth
    const isScrolled = (element) => element.closest('.table-frame, .event-list, pre') !== null
    const wide = [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > width + 1 && !isScrolled(element))
    return {
      pixels: document.documentElement.scrollWidth - width,
      by: wide.slice(0, 5).map(({ tagName, className, textContent }) => [tagName, className, textContent.slice(0, 60)].join(' ')),
    }
  })()`)
}
