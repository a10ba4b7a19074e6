import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { Permission } from '../shared/permission.ts'

/**
 * A part of the product that can be switched on by itself. It is one folder, and one line in the operator's list: the controllers that
 * `--controllers` names, the Roles in deploy/ and the reference pages are made from that list.
 */
export interface Capability<Ports> {
  /** Its folder, and its page in docs/. */
  readonly name: string
  /** One sentence for whoever decides whether to run it. */
  readonly summary: string
  readonly controllers: readonly CapabilityController<Ports>[]
  /** Rights of every replica, whether it leads or not, by the name of their Role. */
  readonly replicaRights?: Readonly<Record<string, readonly Permission[]>>
}

export interface CapabilityController<Ports> {
  /** As `--controllers` names it. */
  readonly name: string
  /** All that it may ask of the API server. */
  readonly rights: readonly Permission[]
  /** Absent where the operator still puts it together. */
  readonly create?: (ports: Ports) => Controller
}
