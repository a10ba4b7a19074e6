import type { Capability } from '../capabilities/capability.ts'
import type { Permission } from '../shared/permission.ts'
import { capabilities } from './capabilities.ts'
import { dashboardRights } from './dashboard-rights.ts'

export type ControllerName = (typeof capabilities)[number]['controllers'][number]['name']

/** In the order of the list: it is the order in which they start. */
export const controllerNames: readonly ControllerName[] = capabilities.flatMap(({ controllers }) =>
  controllers.map(({ name }): ControllerName => name),
)

type Rights = Readonly<Record<string, readonly Permission[]>>

/** What each controller of a list may ask of the API server, and each replica; the Roles in deploy/ are made from it. */
export function rightsOf(list: readonly Pick<Capability<never>, 'controllers' | 'replicaRights'>[]): Rights {
  return {
    ...Object.fromEntries(list.flatMap(({ controllers }) => controllers.map(({ name, rights }) => [name, rights]))),
    ...Object.assign({}, ...list.map(({ replicaRights }) => replicaRights ?? {})),
  }
}

export const permissionsOf = { ...rightsOf(capabilities), dashboard: dashboardRights } as Readonly<
  Record<ControllerName | 'eviction-guard' | 'dashboard', readonly Permission[]>
>

/** The capabilities as the Helm chart switches them on and off. */
export const switchedCapabilities = capabilities.map(
  ({ name, summary, controllers, replicaRights = {} }: Capability<never>) => {
    const names = controllers.map((controller) => controller.name)
    return { name, summary, controllers: names, roles: [...names, ...Object.keys(replicaRights)] }
  },
)
