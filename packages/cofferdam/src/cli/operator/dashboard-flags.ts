import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Command } from 'commander'
import { isLoopback } from '../../dashboard/server/page-address.ts'
import { dashboardPort } from '../../deploy/operator-manifests.ts'
import { parsePort } from '../parse-number.ts'

export interface DashboardFlags {
  readonly dashboard?: boolean
  readonly dashboardHost: string
  readonly dashboardPort: number
  readonly dashboardTls?: string
  readonly dashboardPlainHttp?: boolean
  readonly dashboardApiTokens?: boolean
}

export function configureDashboard(command: Command): void {
  command
    .option('--dashboard', 'serve the page to those who the cluster says may see it')
    .option('--dashboard-host <address>', 'where it listens; beyond this machine it needs --dashboard-tls', '127.0.0.1')
    .option('--dashboard-port <number>', 'on which port; 0 takes any free one', parsePort, dashboardPort)
    .option('--dashboard-tls <folder>', 'serve HTTPS with tls.crt and tls.key of this folder')
    .option('--dashboard-plain-http', 'serve plain HTTP beyond this machine: tokens can be read on the network')
    .option('--dashboard-api-tokens', 'take tokens for the API server too, such as those of an OpenID provider')
}

/** Where and how the page is served. */
export interface DashboardPlace {
  readonly host: string
  readonly port: number
  /** The folder with certificate and key; undefined: plain HTTP. */
  readonly tlsFolder: string | undefined
  readonly takesApiTokens: boolean
}

/**
 * What the flags mean; undefined: no page.
 *
 * Fails closed: tokens never cross a network in the clear unless that was asked for by name.
 */
export function dashboardPlace(flags: DashboardFlags): DashboardPlace | undefined {
  if (flags.dashboard !== true) return undefined
  const { dashboardHost: host, dashboardPort: port, dashboardTls: tlsFolder } = flags
  if (tlsFolder === undefined && !isLoopback(host) && flags.dashboardPlainHttp !== true) {
    throw new CofferdamError(
      'USAGE',
      `the page would be served on ${host} in plain HTTP, with tokens that can be read on the network`,
      {
        facts: { host },
        hint: 'Name a folder with tls.crt and tls.key in --dashboard-tls, or leave out --dashboard-host and use kubectl port-forward. Where something else encrypts in front of it: --dashboard-plain-http.',
      },
    )
  }
  return { host, port, tlsFolder, takesApiTokens: flags.dashboardApiTokens === true }
}
