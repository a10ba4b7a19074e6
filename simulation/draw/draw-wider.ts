import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { drainPolicies } from '@cofferdam/simulator/world/longhorn/drain-policies.ts'
import { oneOf, type Tool } from '../story.ts'

/** What is drawn beside the cluster of the same seed: where that has no such storage it is left out. */
export interface Wider {
  readonly ceph: Readonly<Record<string, unknown>>
  readonly longhorn: Readonly<Record<string, unknown>>
  readonly tools: readonly Tool[]
}

/** The other daemons of Ceph, all ways to set up drains of Longhorn, and the tools of others. One rebooter in a cluster is enough. */
export function drawWider(random: Random, hasKured: boolean): Wider {
  const draw = (name: string) => random.stream(name)
  return {
    ceph: drawDaemons(draw('ceph')),
    longhorn: drawHandling(draw('longhorn')),
    tools: [
      ...(draw('node-maintenance').next() < 0.4 ? (['node-maintenance'] as const) : []),
      ...(!hasKured && draw('machine-config').next() < 0.4 ? (['machine-config'] as const) : []),
    ],
  }
}

function drawDaemons(random: Random): Wider['ceph'] {
  return {
    ...(random.next() < 0.4 && { filesystems: [{ name: 'files', standby: random.next() < 0.5 }] }),
    ...(random.next() < 0.4 && { objectStores: [{ name: 'objects', instances: 2 }] }),
    ...(random.next() < 0.3 && { rbdMirrors: 1 }),
  }
}

function drawHandling(random: Random): Wider['longhorn'] {
  const policy = () => oneOf(random, drainPolicies)
  return {
    drainPolicy: policy(),
    manage: oneOf(random, ['guide', 'hold'] as const),
    ...(random.next() < 0.5 && { wantedPolicy: policy() }),
    ...(random.next() < 0.3 && { rebootPolicy: policy() }),
    trigger: oneOf(random, ['cordon', 'drain'] as const),
    surplus: oneOf(random, ['keep', 'remove'] as const),
    ...(random.next() < 0.2 && { settings: { 'replica-auto-balance': 'best-effort' } }),
  }
}
