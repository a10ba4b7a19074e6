import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessibilityFaults, openPage, overflow, showIn, startBrowser, windows } from './browser.ts'
import { type OpenDemo, openDemo } from './demo.ts'
import { keepPictures } from './screenshot.ts'
import { createUser } from './user.ts'

let demo: OpenDemo
let browser: Browser
let page: Page

beforeAll(async () => {
  ;[demo, browser] = await Promise.all([openDemo(), startBrowser()])
  page = await openPage(browser, demo.url)
})

afterAll(async () => {
  await browser?.close()
  await demo?.stop()
})

/** In every window: readable by everyone, and never wider than the window. */
async function expectSound(): Promise<void> {
  for (const [name, window] of Object.entries(windows)) {
    await showIn(page, window)
    expect(await overflow(page), name).toEqual({ pixels: 0, by: [] })
    expect(await accessibilityFaults(page), name).toEqual([])
  }
}

async function expectHeadline(text: string | RegExp): Promise<void> {
  await page.locator('.headline').filter({ hasText: text }).waitFor({ timeout: 90_000 })
}

describe.sequential('a walk through the demo', () => {
  it('starts calm: every node is ready, and nothing is in the way', async () => {
    await expectHeadline('All 9 nodes are ready')
    await expectSound()
    await keepPictures(page, 'page-calm')
  })

  it('a click on a node opens what explain prints about it, at an address that can be sent to others', async () => {
    await showIn(page, windows['a wide window, light'])
    await page.getByRole('link', { name: 'worker-a1', exact: true }).click()
    await page.locator('.explanation', { hasText: 'zone a may be drained now' }).waitFor()
    expect(page.url()).toBe(`${demo.url}/#/node/worker-a1`)
    const text = ((await page.locator('.explained').textContent()) ?? '').replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/^node\/worker-a1 free: All \d+ pods may go/)
    await expectSound()
    await keepPictures(page, 'page-node')
    await page.getByRole('button', { name: 'Close the explanation' }).click()
    expect(await page.locator('.explanation').count()).toBe(0)
  })

  it('shows Ceph with its health, its zones, its monitors and noout', async () => {
    const panel = page.locator('.ceph')
    await panel.getByText('HEALTH_OK').waitFor()
    expect(await panel.locator('.domain').allInnerTexts()).toHaveLength(3)
    expect(await panel.textContent()).toMatch(/3 of 3 ready.*noout/)
  })

  it('a drain that meets the lock of an owner is shown with who holds it, and nothing overflows', async () => {
    const user = createUser(demo.api)
    await user.lock('shop', 'orders')
    const request = await user.drain(await user.nodeOf('shop', 'orders-0'))
    await expectHeadline(/waits for pdb\/shop\/orders, held by ann/)
    await page.locator('.chip.held', { hasText: 'orders' }).first().waitFor()
    expect(await page.title()).toContain('held by ann')
    await expectSound()
    await keepPictures(page, 'page-locked')
    await user.cancel(request)
    await user.unlock('shop', 'orders')
  })

  it('a storage host without power is named, and its pods stay in view', async () => {
    await createUser(demo.api).cutPower('worker-c2')
    await expectHeadline(/worker-c2 is NotReady, a storage host of zone c/)
    const host = page.locator('.node', { hasText: 'worker-c2' })
    expect(await host.locator('.pill').textContent()).toBe('NotReady')
    expect(await host.locator('.chip').count()).toBeGreaterThan(3)
    await expectSound()
    await keepPictures(page, 'page-dead-host')
  })
})
