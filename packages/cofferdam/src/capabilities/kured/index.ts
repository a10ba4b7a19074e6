import type { Capability } from '../capability.ts'
import type { CommonPorts } from '../ports.ts'
import { createKuredController, kuredRights } from './controller.ts'
import { type KuredViewPorts, openKuredViews } from './observe.ts'
import { kuredTraces } from './traces.ts'

interface Ports extends CommonPorts, KuredViewPorts {}

export const kured = {
  name: 'kured',
  summary: 'Has kured reboot a node only when a request has drained it, where its DaemonSet asks for that.',
  controllers: [{ name: 'kured', rights: kuredRights }],
  traces: kuredTraces,
  install: () => (ports) => ({
    controllers: {
      kured: () => createKuredController({ ...ports, events: ports.events.scoped(), views: openKuredViews(ports) }),
    },
  }),
} as const satisfies Capability<Ports>
