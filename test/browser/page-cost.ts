import type { Page } from 'playwright-core'

export interface PageCost {
  /** As they came over the wire. */
  receivedBytes(): number
  /** Milliseconds that the page has spent on its script, and on layout and style. */
  spentMs(): Promise<{ readonly script: number; readonly drawing: number }>
}

/** Counts what a page costs from now on; to be asked before it goes anywhere. */
export async function countPageCost(page: Page): Promise<PageCost> {
  const session = await page.context().newCDPSession(page)
  let received = 0
  await session.send('Network.enable')
  await session.send('Performance.enable')
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    received += encodedDataLength
  })
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    received += encodedDataLength
  })
  return {
    receivedBytes: () => received,
    async spentMs() {
      const { metrics } = await session.send('Performance.getMetrics')
      const of = (wanted: string) => 1_000 * (metrics.find(({ name }) => name === wanted)?.value ?? 0)
      return { script: of('ScriptDuration'), drawing: of('LayoutDuration') + of('RecalcStyleDuration') }
    },
  }
}
