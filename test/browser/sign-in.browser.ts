import { join, resolve } from 'node:path'
import { quietLog } from '@cofferdam/kubernetes/runtime/log.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { serveDashboard } from '@cofferdam/product/cli/operator/serve-dashboard.ts'
import { clusterWithViewers } from '@cofferdam/product/cli/operator/testing/cluster-with-viewers.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessibilityFaults, openPage, overflow, showIn, startBrowser, windows } from './browser.ts'

let browser: Browser
let page: Page
let cluster: Awaited<ReturnType<typeof clusterWithViewers>>
let served: Awaited<ReturnType<typeof serveDashboard>>

beforeAll(async () => {
  cluster = await clusterWithViewers(realClock)
  served = await serveDashboard({
    place: { host: '127.0.0.1', port: 0, tlsFolder: undefined, takesApiTokens: false },
    api: cluster.operator,
    clock: realClock,
    random: seededRandom(1),
    log: quietLog,
    pageDirectory: join(resolve(import.meta.dirname, '../..'), 'dist/page'),
    cluster: 'production',
    leaseNamespace: 'cofferdam-system',
  })
  browser = await startBrowser()
  page = await openPage(browser, served.url)
})

afterAll(async () => {
  await browser?.close()
  await served?.close()
  cluster?.stop()
})

async function signInAs(token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

describe.sequential('the page that the operator serves', () => {
  it('asks for a token first, on a phone and in a wide window', async () => {
    await page.getByRole('heading', { name: 'Sign in with a token' }).waitFor()
    for (const [name, window] of Object.entries(windows)) {
      await showIn(page, window)
      expect(await overflow(page), name).toEqual({ pixels: 0, by: [] })
      expect(await accessibilityFaults(page), name).toEqual([])
    }
  })

  it('says why a token is refused', async () => {
    await signInAs('odd')
    await page.getByRole('alert').filter({ hasText: 'the cluster does not know this token' }).waitFor()
    await signInAs(await cluster.tokenOf('bob'))
    await page.getByRole('alert').filter({ hasText: 'default:bob may not see this page' }).waitFor()
  })

  it('shows the cluster and explanations to those who may see it', async () => {
    await signInAs(await cluster.tokenOf('ann'))
    await page.getByRole('link', { name: 'worker-a1' }).click()
    await page.locator('.explanation .answer', { hasText: 'node/worker-a1' }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('leaves the token nowhere: the next to load the page is asked again', async () => {
    expect(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in with a token' }).waitFor()
  })
})
