import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import type { App } from './cluster-schema.ts'
import type { Problem } from './expand-nodes.ts'
import type { WrittenVolume } from './longhorn-schema.ts'

/** A claim, and the pods that mount it. */
export interface VolumeClaim {
  readonly namespace: string
  readonly name: string
  readonly app: string
  /** What the pod calls it; for a StatefulSet the name of the claim's template as well. */
  readonly mount: string
  /** The pod of a StatefulSet; undefined: the only pod of a Deployment. */
  readonly ordinal?: number
}

interface Surroundings {
  readonly index: number
  readonly apps: readonly App[]
  readonly problems: Problem[]
}

/**
 * The claim by which a workload uses a volume. `attachedBy` names a Deployment of one pod or a StatefulSet of one pod, as
 * `shop/cart`, or a pod of a StatefulSet, as `shop/orders-0`.
 */
export function claimOf(
  volumes: readonly WrittenVolume[],
  { index, apps, problems }: Surroundings,
): VolumeClaim | undefined {
  const { attachedBy } = volumes[index] as WrittenVolume
  if (attachedBy === undefined) return undefined
  const path = `longhorn.volumes[${index}].attachedBy`
  const found = findUser(attachedBy, apps)
  if ('says' in found) {
    problems.push({ path, says: found.says })
    return undefined
  }
  const { app, ordinal } = found
  const isSame = (other: WrittenVolume) =>
    other.attachedBy !== undefined && isSameUser(found, findUser(other.attachedBy, apps))
  const before = volumes.slice(0, index).filter(isSame).length
  const mount = before === 0 ? 'data' : `data-${before + 1}`
  const { namespace } = app
  if (ordinal === undefined) return { namespace, name: `${app.name}-${mount}`, app: app.name, mount }
  return { namespace, name: `${mount}-${app.name}-${ordinal}`, app: app.name, mount, ordinal }
}

type User = { readonly app: App; readonly ordinal?: number } | { readonly says: string }

function isSameUser(one: User, other: User): boolean {
  if ('says' in one || 'says' in other) return false
  return one.app === other.app && one.ordinal === other.ordinal
}

function findUser(attachedBy: string, apps: readonly App[]): User {
  const called = ({ namespace, name }: App) => `${namespace}/${name}`
  const app = apps.find((each) => called(each) === attachedBy)
  if (app !== undefined) return userOf(app)
  const [, setName = '', digits = ''] = /^(.+)-(\d+)$/.exec(attachedBy) ?? []
  const set = apps.find((each) => each.kind === 'StatefulSet' && called(each) === setName)
  if (set === undefined) {
    const known = apps.filter(({ kind }) => kind !== 'DaemonSet').flatMap(usersOf)
    const near = closestName(attachedBy, known)
    const advice = near === undefined ? `known: ${known.join(', ') || 'none'}` : `did you mean "${near}"?`
    return {
      says: `"${attachedBy}" is neither an app, as in shop/cart, nor a pod of a StatefulSet, as in shop/orders-0; ${advice}`,
    }
  }
  const count = set.replicas ?? 1
  if (Number(digits) >= count) {
    return {
      says: `${setName} has ${count === 1 ? 'one pod, number 0' : `${count} pods, numbers 0 to ${count - 1}`}, so there is no ${attachedBy}`,
    }
  }
  return { app: set, ordinal: Number(digits) }
}

function userOf(app: App): User {
  const name = `${app.namespace}/${app.name}`
  if (app.kind === 'DaemonSet') {
    return { says: `${name} is a DaemonSet, with a pod on every node; a volume is attached to one node at a time` }
  }
  const count = app.replicas ?? 1
  if (count === 1) return app.kind === 'StatefulSet' ? { app, ordinal: 0 } : { app }
  const advice =
    app.kind === 'StatefulSet'
      ? `name the pod, as in ${name}-0`
      : 'give it replicas: 1, or make it a StatefulSet and name the pod'
  return { says: `${name} has ${count} pods, and a volume is attached to one node at a time; ${advice}` }
}

function usersOf(app: App): string[] {
  const name = `${app.namespace}/${app.name}`
  const count = app.replicas ?? 1
  if (app.kind !== 'StatefulSet' || count === 1) return [name]
  return Array.from({ length: Math.min(count, 20) }, (_, ordinal) => `${name}-${ordinal}`)
}

/** All pods of a StatefulSet have the same claims, so each needs a volume for each of them. */
export function checkMounts(
  volumes: readonly { readonly claim?: VolumeClaim }[],
  apps: readonly App[],
  problems: Problem[],
): void {
  const claims = volumes.flatMap(({ claim }) => claim ?? [])
  for (const { namespace, name, kind, replicas = 1 } of apps) {
    if (kind !== 'StatefulSet') continue
    const own = claims.filter((claim) => claim.namespace === namespace && claim.app === name)
    const mounts = new Set(own.map(({ mount }) => mount))
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      const has = own.filter((claim) => claim.ordinal === ordinal).length
      if (has === mounts.size) continue
      const each = `pods of ${namespace}/${name} use ${counted(mounts.size)} each, but ${name}-${ordinal} has ${has || 'none'}`
      const says = `${each}; add one with attachedBy: ${namespace}/${name}-${ordinal}`
      problems.push({ path: 'longhorn.volumes', says })
      break
    }
  }
}

function counted(count: number): string {
  return count === 1 ? 'one volume' : `${count} volumes`
}
