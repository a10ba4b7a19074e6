import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { WaveNeeds } from '../wave-needs.ts'

/** Storage, budgets and limits of a cluster that somebody could have, as what each of its nodes needs. */
export function randomNeeds(random: Random, mostNodes: number): readonly WaveNeeds[] {
  const whole = (from: number, to: number) => from + Math.floor(random.next() * (to - from + 1))
  const oneOf = <T>(...choices: readonly T[]): T => choices[whole(0, choices.length - 1)] as T
  const count = whole(3, mostNodes)
  const zones = whole(1, 5)
  const names = Array.from({ length: count }, (_, at) => `node-${at}`)
  const zoneOf = (at: number) => `zone-${at % zones}`
  const domains = oneOf<(at: number) => string>(
    zoneOf,
    (at) => `rack-${at % (zones * 3)}`,
    (at) => `host-${at}`,
  )
  const [cephShare, longhornShare] = [oneOf(0, 0.3, 1), oneOf(0, 0, 0.2)]
  const claims = names.map((name, at): WaveNeeds['claims'][number][] => [
    { key: `node/${name}`, scope: '' },
    ...(random.next() < cephShare ? [{ key: 'storage/rook-ceph/rook-ceph', scope: domains(at) }] : []),
    ...(random.next() < longhornShare ? [{ key: 'storage/longhorn-system/longhorn', scope: name }] : []),
    ...(at < 3 ? [{ key: 'limit/control-plane', scope: '', most: 1 }] : []),
  ])
  const leaves = names.map((): WaveNeeds['leaves'][number][] => [])
  const [mostInAll, mostInZone] = [oneOf(0, Math.ceil(count / 10), Math.ceil(count / 3)), oneOf(0, 0, 2)]
  for (const [at, own] of claims.entries()) {
    if (mostInAll > 0) own.push({ key: 'limit/all', scope: '', most: mostInAll })
    if (mostInZone > 0) own.push({ key: `limit/zone/${zoneOf(at)}`, scope: '', most: mostInZone })
  }
  for (let budget = whole(0, count * oneOf(1, 2)); budget > 0; budget -= 1) {
    const key = `pdb/shop/app-${budget}`
    const replicas = whole(1, oneOf(3, 3, 12))
    const room = whole(1, Math.max(1, Math.floor(replicas / 2)))
    const pods = new Map<number, number>()
    for (let pod = 0; pod < replicas; pod += 1) {
      const at = whole(0, count - 1)
      pods.set(at, (pods.get(at) ?? 0) + 1)
    }
    const stays = random.next() < 0.2
    for (const [at, number] of pods) {
      if (stays) claims[at]?.push({ key, scope: '' })
      else leaves[at]?.push({ key, pods: number, room })
    }
  }
  return names.map((node, at) => ({ node, claims: claims[at] ?? [], leaves: leaves[at] ?? [] }))
}
