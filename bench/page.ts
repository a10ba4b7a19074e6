import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Page } from 'playwright-core'
import { openPage, startBrowser } from '../test/browser/browser.ts'
import { type LargeCluster, nameOf, openLargeCluster } from '../test/browser/large-cluster.ts'
import { countPageCost, type PageCost } from '../test/browser/page-cost.ts'
import { printRows, type Row } from './report/rows.ts'

const what = '1,000 nodes, 10,000 OSDs'
const changes = 20

async function measureFirstView(page: Page, cost: PageCost, { url }: LargeCluster): Promise<Row[]> {
  await page.goto(url)
  await page.locator('.headline').waitFor()
  const { script, drawing } = await cost.spentMs()
  const kilobytes = cost.receivedBytes() / 1_000
  return [
    {
      measured: `${what}: first view, compressed`,
      result: `${Math.round(kilobytes)} KB`,
      goal: 'under 300 KB',
      reached: kilobytes < 300,
    },
    {
      measured: 'the same: time in its script',
      result: `${Math.round(script)} ms`,
      goal: 'under 100 ms',
      reached: script < 100,
    },
    {
      measured: 'the same: layout and style',
      result: `${Math.round(drawing)} ms`,
      goal: 'printed only',
      reached: true,
    },
  ]
}

async function measureChanges(page: Page, cost: PageCost, { api }: LargeCluster): Promise<Row[]> {
  // The first answers about all nodes are there.
  await page.locator('.urgent .node-verdict').first().waitFor({ timeout: 180_000 })
  const before = await cost.spentMs()
  for (let at = 0; at < changes; at += 1) {
    const name = nameOf(10 + at)
    await api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await page.locator('.urgent .node', { hasText: name }).first().waitFor()
  }
  const after = await cost.spentMs()
  const script = (after.script - before.script) / changes
  const drawing = (after.drawing - before.drawing) / changes
  return [
    {
      measured: `a node changes, mean of ${changes}: time in the script`,
      result: `${script.toFixed(1)} ms`,
      goal: 'under 16 ms',
      reached: script < 16,
    },
    { measured: 'the same: layout and style', result: `${drawing.toFixed(1)} ms`, goal: 'printed only', reached: true },
  ]
}

const [cluster, browser] = await Promise.all([openLargeCluster(), startBrowser()])
try {
  const page = await openPage(browser, 'about:blank')
  const cost = await countPageCost(page)
  const first = await measureFirstView(page, cost, cluster)
  printRows([...first, ...(await measureChanges(page, cost, cluster))])
} finally {
  await browser.close()
  await cluster.stop()
}
