import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { Registry } from 'prom-client'
import type { Permission } from '../shared/permission.ts'
import type { Trace } from '../shared/trace.ts'
import type { Answers } from './questions.ts'
import type { Shown } from './shown.ts'

/**
 * A part of the product that can be switched on by itself. It is one folder, and one line in the operator's list: the controllers that
 * `--controllers` names, their metrics, what `status`, `explain` and the page show of it, the Roles in deploy/ and the reference pages
 * are made from that list.
 */
export interface Capability<Ports, ReadPorts = never> {
  /** Its folder, and its page in docs/. */
  readonly name: string
  /** One sentence for whoever decides whether to run it. */
  readonly summary: string
  readonly controllers: readonly CapabilityController[]
  /** Rights of every replica, whether it leads or not, by the name of their Role. */
  readonly replicaRights?: Readonly<Record<string, readonly Permission[]>>
  /** Registers its metrics, once in a process. What it returns is called each time that this process begins to lead. */
  readonly install: (registry: Registry) => (ports: Ports) => OpenCapability
  /** What it leaves on objects, and how `cofferdam uninstall` takes that off. */
  readonly traces: readonly Trace[]
  /** What commands and the page show of it, in the order of its importance. */
  readonly shows?: readonly Shown<ReadPorts>[]
}

export interface CapabilityController {
  /** As `--controllers` names it. */
  readonly name: string
  /** All that it may ask of the API server. */
  readonly rights: readonly Permission[]
}

/** A capability for as long as this process leads. */
export interface OpenCapability {
  /** Puts each of its controllers together, by name; called for those that run. */
  readonly controllers: Readonly<Record<string, () => Controller>>
  readonly answers?: Answers
}
