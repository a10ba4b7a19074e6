import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildSite } from '../../site/build-site.ts'
import { accessibilityFaults, openPage, showIn, startBrowser, windows } from './browser.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'cofferdam-site-'))
const addressOf = (page: string) => pathToFileURL(join(folder, 'site', page)).href

let browser: Browser
beforeAll(async () => {
  const script = join(folder, 'search.js')
  await build({ entryPoints: [join(root, 'site/browser/search.js')], outfile: script, bundle: true, format: 'iife' })
  buildSite(root, join(folder, 'site'), readFileSync(script, 'utf8'))
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true })
})

async function on(address: string, window: keyof typeof windows, visit: (page: Page) => Promise<void>): Promise<void> {
  const page = await openPage(browser, addressOf(address))
  await showIn(page, windows[window])
  await visit(page)
  await page.close()
}

const everyWindow = Object.keys(windows) as (keyof typeof windows)[]

describe.each(['index.html', 'guide/install.html', 'reference/compatibility.html'])('the site, at %s', (address) => {
  it.each(everyWindow)('can be read by everyone in %s, and only tables and code are wider than it', async (window) => {
    await on(address, window, async (page) => {
      expect(await accessibilityFaults(page)).toEqual([])
      const excess = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      expect(excess).toBe(0)
    })
  })
})

describe('a reader', () => {
  it('on a phone opens the list of pages, and goes to one', async () => {
    await on('index.html', 'a phone, light', async (page) => {
      const link = page.getByRole('link', { name: 'With Longhorn', exact: true }).first()
      expect(await link.isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Pages' }).click()
      await page.locator('#menu').getByRole('link', { name: 'With Longhorn' }).click()
      await page.waitForURL(/guide\/longhorn\.html$/)
    })
  })

  it('at a desk has that list beside the text', async () => {
    await on('guide/rook.html', 'a wide window, light', async (page) => {
      expect(await page.getByRole('button', { name: 'Pages' }).isVisible()).toBe(false)
      expect(await page.locator('#menu [aria-current=page]').textContent()).toBe('With Rook-Ceph')
    })
  })

  it('searches with the keyboard alone, from a folder without a server, and lands at the heading', async () => {
    await on('guide/rook.html', 'a wide window, dark', async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('which policy when')
      await page.locator('#results a').first().waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/longhorn-drain\.html#which-policy-when$/)
    })
  })

  it('reads every page without scripts, and has no search that would do nothing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(addressOf('index.html'))
    expect(await page.getByRole('search').isVisible()).toBe(false)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Cofferdam')
    await context.close()
  })
})
