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
  // No chip is pointed at by chance.
  await page.mouse.move(0, 0)
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
    await panel.getByText(/\d+ active\+clean/).waitFor()
    await panel.getByText('a, b, c in quorum; none out; 3 of 3 pods ready').waitFor()
    await panel.getByText('not set', { exact: true }).waitFor()
  })

  it('a button shows the command that it runs, and what it did is in the timeline', async () => {
    await showIn(page, windows['a wide window, light'])
    await page.getByRole('link', { name: 'worker-b1', exact: true }).click()
    const actions = page.locator('.actions')
    await actions.getByText('kubectl cordon worker-b1').waitFor()
    await actions.getByText('kubectl annotate node worker-b1 cofferdam.io/power=off').waitFor()
    await actions.getByText(/Kill the disk of osd\.\d/).waitFor()
    await expectSound()
    await keepPictures(page, 'page-demo')
    await actions.getByRole('button', { name: 'Cordon', exact: true }).click()
    await page.locator('.event', { hasText: 'FromPage' }).getByText('kubectl cordon worker-b1').waitFor()
    await expectHeadline('worker-b1 is cordoned')
    await actions.getByRole('button', { name: 'Uncordon', exact: true }).click()
    await expectHeadline('All 9 nodes are ready')
    await page.getByRole('button', { name: 'Close the explanation' }).click()
  })

  it('a button that fails says why in one line', async () => {
    await page.goto(`${demo.url}/#/pdb/shop/orders`)
    const lock = page.locator('.actions').getByRole('button', { name: 'Lock for 10 minutes' })
    await lock.waitFor()
    await page.route('**/api/actions', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 409, json: { error: 'another holder has it' } })
        : route.continue(),
    )
    await lock.click()
    await page.getByRole('alert').filter({ hasText: 'another holder has it' }).waitFor()
    await page.unroute('**/api/actions')
    await page.getByRole('button', { name: 'Close the explanation' }).click()
  })

  it('the plan is stepped through wave by wave, and its nodes are marked in the map', async () => {
    await page.getByRole('link', { name: 'Plan drains of all nodes' }).click()
    const panel = page.locator('.plan')
    await panel.getByText(/^Wave 1 of \d+$/).waitFor()
    expect(page.url()).toBe(`${demo.url}/#/plan`)
    const marked = () => page.locator('.node.in-wave h4').allTextContents()
    const first = await marked()
    expect(first.length).toBeGreaterThan(0)
    expect([...first].sort()).toEqual([...(await panel.locator('.steps + .wave-nodes a').allTextContents())].sort())
    expect(await panel.getByRole('button', { name: 'Back' }).isDisabled()).toBe(true)
    await panel.getByRole('button', { name: 'Next' }).click()
    await panel.getByText(/^Wave 2 of \d+$/).waitFor()
    const second = await marked()
    expect(second.filter((node) => first.includes(node))).toEqual([])
    await expectSound()
    await keepPictures(page, 'page-plan')
    await panel.getByRole('button', { name: 'Back' }).click()
    expect(await marked()).toEqual(first)
    await panel.getByRole('button', { name: 'Close the plan' }).click()
    expect(await marked()).toEqual([])
  })

  it('the timeline is filtered by kind, by object and by words', async () => {
    const events = page.locator('.event')
    const abouts = () => page.locator('.event .about').allInnerTexts()
    await page.getByLabel('Kind of object').selectOption('Node')
    await events.first().waitFor()
    expect((await abouts()).filter((about) => !about.startsWith('Node '))).toEqual([])
    await page.getByLabel('Filter the timeline').fill('worker-b1')
    await events.first().waitFor()
    expect(new Set(await abouts())).toEqual(new Set(['Node worker-b1']))
    await page.getByLabel('Filter the timeline').fill('no such word')
    await page.getByText('No event matches.').waitFor()
    await page.getByLabel('Filter the timeline').fill('')
    await page.getByLabel('Kind of object').selectOption('')
    expect(new Set(await abouts()).size).toBeGreaterThan(1)
  })

  it('the title shows the state, for the row of tabs', async () => {
    await expectHeadline('All 9 nodes are ready')
    expect(await page.title()).toMatch(/^✓ All 9 nodes are ready.* · Cofferdam$/)
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
    await page.locator('.domain', { hasText: 'zone c' }).getByText('Down (1 of 2 nodes): its rest may go').waitFor()
    await expectSound()
    await keepPictures(page, 'page-dead-host')
  })

  it('without the server the page keeps the last state, and says as of when that is', async () => {
    expect(await page.locator('.as-of').count()).toBe(0)
    await demo.stop()
    await page.locator('.as-of', { hasText: /^as of \d\d:\d\d:\d\d$/ }).waitFor({ timeout: 90_000 })
    expect(await page.title()).toMatch(/^\(offline\) ▲ worker-c2 is NotReady/)
    expect(await page.locator('.node', { hasText: 'worker-c2' }).locator('.chip').count()).toBeGreaterThan(3)
  })
})
