import { describe, expect, it } from 'vitest'
import {
  doesCount,
  growthImage,
  isContested,
  isNamed,
  isRooks,
  mayOwn,
  trustsAlone,
  trustsNone,
} from './named-clusters.ts'
import { parseTrust, type WrittenTrust } from './parse-trust.ts'

const image = 'registry.example/rook/ceph:v1.18.8'
const [one, two] = ['rook-ceph/rook-ceph', 'east/ceph']

describe('what the administrator says of Ceph clusters', () => {
  it('nothing said: no cluster is acted on', () => {
    expect(parseTrust({})).toEqual({ trust: trustsNone })
  })

  it('everything said', () => {
    const written = { cephClusters: `${one}, ${two},${one}`, ownOsds: one, growOsds: one, rookImage: image }
    expect(parseTrust(written)).toEqual({ trust: { named: [one, two], own: [one], grow: [one], rookImage: image } })
    expect(parseTrust({ cephClusters: one, asksOneCeph: true })).toMatchObject({ trust: { named: [one] } })
  })

  const problems: Record<string, { written: WrittenTrust; problem: string }> = {
    "a name without its namespace could be anybody's, so nothing starts": {
      written: { cephClusters: 'rook-ceph' },
      problem: '--ceph-clusters: "rook-ceph" is not NAMESPACE/NAME, as in rook-ceph/rook-ceph',
    },
    'a pattern is no name: it would let strangers in': {
      written: { cephClusters: 'rook-ceph/*' },
      problem: '--ceph-clusters: "rook-ceph/*" is not NAMESPACE/NAME, as in rook-ceph/rook-ceph',
    },
    'a list that ends with a comma is told of': {
      written: { cephClusters: `${one},` },
      problem: '--ceph-clusters: "" is not NAMESPACE/NAME, as in rook-ceph/rook-ceph',
    },
    'owning what is not named is told of': {
      written: { cephClusters: one, ownOsds: two },
      problem: `--own-osds: ${two} is not among --ceph-clusters`,
    },
    'growing where Rook writes is told of': {
      written: { cephClusters: `${one},${two}`, ownOsds: one, growOsds: two, rookImage: image },
      problem: `--grow-osds: ${two} is not among --own-osds`,
    },
    'growing without an image is told of': {
      written: { cephClusters: one, ownOsds: one, growOsds: one },
      problem: '--grow-osds needs --rook-image: it has the program that prepares disks',
    },
    'an image that is none is told of': {
      written: { cephClusters: one, ownOsds: one, growOsds: one, rookImage: 'rook ceph' },
      problem: '--rook-image: "rook ceph" is no image, as in docker.io/rook/ceph:v1.18.8',
    },
    'one ceph.conf for two clusters would have one speak for the other': {
      written: { cephClusters: `${one},${two}`, asksOneCeph: true },
      problem:
        '--ceph-conf, --ceph-name and --ceph-keyring lead to one Ceph, and --ceph-clusters names 2: name exactly the one that they lead to',
    },
    'one ceph.conf for no cluster is told of': {
      written: { asksOneCeph: true },
      problem:
        '--ceph-conf, --ceph-name and --ceph-keyring lead to one Ceph, and --ceph-clusters names 0: name exactly the one that they lead to',
    },
  }
  it.each(Object.entries(problems))('%s', (_sentence, { written, problem }) => {
    expect(parseTrust(written)).toEqual({ problem })
  })
})

describe('whose a cluster is', () => {
  const cluster = { namespace: 'rook-ceph', name: 'rook-ceph' }
  const alone = trustsAlone([cluster], image)
  const named = { ...alone, own: [], grow: [] }

  it('only the administrator can make it ours: a Rook that is scaled down or gone for a moment does not', () => {
    expect([true, false].map((rookRuns) => isRooks(named, cluster, { rookRuns }))).toEqual([true, true])
    expect([true, false].map((rookRuns) => isRooks(alone, cluster, { rookRuns }))).toEqual([true, false])
    expect([true, false].map((rookRuns) => isContested(alone, cluster, { rookRuns }))).toEqual([true, false])
  })

  it('a cluster of the same name in another namespace is another one', () => {
    const twin = { namespace: 'team-a', name: 'rook-ceph' }
    expect([isNamed(alone, twin), mayOwn(alone, twin), growthImage(alone, twin)]).toEqual([false, false, undefined])
    expect([doesCount(alone, twin), doesCount(undefined, twin)]).toEqual([false, true])
    expect([isNamed(alone, cluster), mayOwn(alone, cluster), growthImage(alone, cluster)]).toEqual([true, true, image])
  })
})
