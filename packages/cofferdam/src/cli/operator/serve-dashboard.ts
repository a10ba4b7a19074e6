import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { createDashboardAccess } from '../../dashboard/server/dashboard-access.ts'
import { startDashboard } from '../../dashboard/server/start-dashboard.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import { errorText } from '../../operator/log.ts'
import { createExplainForPage } from '../dashboard/explain-for-page.ts'
import { createPlanForPage } from '../dashboard/plan-for-page.ts'
import { rehearseNodes } from '../observe/rehearse-nodes.ts'
import type { DashboardPlace } from './dashboard-flags.ts'
import { followPageCertificate, readPageCertificate } from './page-certificate.ts'

export interface ServedDashboard {
  readonly url: string
  close(): Promise<void>
}

export interface ServeOptions {
  readonly place: DashboardPlace
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly pageDirectory: string
  /** How the cluster is called at the top of the page. */
  readonly cluster: string
  readonly leaseNamespace: string
}

const retryMs = 30_000

/** Serves the page until it is closed, and tries again while it cannot: the operator works on without it. */
export function keepServing(options: ServeOptions): Pick<ServedDashboard, 'close'> {
  const { clock, log } = options
  const ending = new AbortController()
  const served = (async () => {
    while (!ending.signal.aborted) {
      try {
        return await serveDashboard(options)
      } catch (error) {
        log.error(
          { error: errorText(error) },
          'the page cannot be served; the operator works on, and it is tried again',
        )
        await sleep(clock, retryMs, ending.signal)
      }
    }
    return undefined
  })()
  return {
    async close() {
      ending.abort()
      await (await served)?.close()
    },
  }
}

/** The page as the operator serves it: with the operator's rights, to those who the cluster says may see it. */
export async function serveDashboard({
  place,
  api,
  clock,
  random,
  log,
  pageDirectory,
  cluster,
  leaseNamespace,
}: ServeOptions): Promise<ServedDashboard> {
  const { host, port, tlsFolder, takesApiTokens } = place
  const certificate = tlsFolder === undefined ? undefined : await readPageCertificate(tlsFolder)
  let lastWhy = ''
  const access = createDashboardAccess({
    api,
    clock,
    takesApiTokens,
    onUnknown(why) {
      if (why !== lastWhy) log.warn({ error: why }, 'the page is refused to everyone: tokens cannot be reviewed')
      lastWhy = why
    },
  })
  const dashboard = await startDashboard({
    api,
    clock,
    random,
    host,
    port,
    portFlag: '--dashboard-port',
    pageDirectory,
    cluster,
    shown: shownOf(capabilities),
    rehearse: rehearseNodes,
    explain: createExplainForPage({ api, clock, leaseNamespace }),
    plan: createPlanForPage({ api, clock, leaseNamespace }),
    leaseNamespace,
    access,
    ...(certificate === undefined ? {} : { certificate }),
  })
  const ending = new AbortController()
  const following =
    tlsFolder === undefined || certificate === undefined
      ? undefined
      : followPageCertificate({
          folder: tlsFolder,
          first: certificate,
          clock,
          signal: ending.signal,
          onCertificate: dashboard.setCertificate,
          onError: (error) => log.warn({ error: errorText(error) }, 'the page keeps its former certificate'),
        })
  log.info({ url: dashboard.url }, 'the page is served')
  return {
    url: dashboard.url,
    async close() {
      ending.abort()
      await following
      await dashboard.close()
    },
  }
}
