import { autoscalers } from '../capabilities/autoscalers/index.ts'
import type { Capability } from '../capabilities/capability.ts'
import { cephDrain } from '../capabilities/ceph-drain/index.ts'
import { drainDetection } from '../capabilities/drain-detection/index.ts'
import { drainLock } from '../capabilities/drain-lock/index.ts'
import { fencing } from '../capabilities/fencing/index.ts'
import { kured } from '../capabilities/kured/index.ts'
import { longhornDrain } from '../capabilities/longhorn-drain/index.ts'
import { machineConfig } from '../capabilities/machine-config/index.ts'
import { machineDeletion } from '../capabilities/machine-deletion/index.ts'
import { nodeMaintenance } from '../capabilities/node-maintenance/index.ts'
import { osdUpdate } from '../capabilities/osd-update/index.ts'
import type { Shown } from '../capabilities/shown.ts'
import { evictionGuard } from '../eviction-guard/capability.ts'
import type { ShownPorts } from '../observe/read-shown.ts'
import type { CapabilityPorts } from './ports.ts'

/** Everything that Cofferdam can do. A capability is its folder, its page in docs/ and its line here. */
export const capabilities = [
  drainDetection,
  cephDrain,
  osdUpdate,
  longhornDrain,
  fencing,
  autoscalers,
  drainLock,
  kured,
  machineDeletion,
  nodeMaintenance,
  machineConfig,
  evictionGuard,
] as const

/** Any of them, by what it may be put together from. */
export type OperatorCapability = Capability<CapabilityPorts, ShownPorts>

/** What commands and the page show of a list of them. */
export function shownOf(list: readonly OperatorCapability[]): readonly Shown<ShownPorts>[] {
  return list.flatMap(({ shows = [] }) => shows)
}
