import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Command } from 'commander'
import type { CephTrust } from '../../shared/ceph-trust/named-clusters.ts'
import { parseTrust } from '../../shared/ceph-trust/parse-trust.ts'
import type { CephFlags } from './ceph-link.ts'

export interface TrustFlags {
  readonly cephClusters?: string
  readonly ownOsds?: string
  readonly growOsds?: string
  readonly rookImage?: string
}

export function configureTrust(command: Command): void {
  command
    .option('--ceph-clusters <names>', 'the CephClusters to act on: NAMESPACE/NAME, with commas; without it none')
    .option('--own-osds <names>', "of these: where no Rook runs, and OSD Deployments are Cofferdam's to write")
    .option('--grow-osds <names>', 'of these: where new disks become OSDs; needs --rook-image')
    .option('--rook-image <image>', "the image that has Rook's program, which prepares disks")
}

/** @throws CofferdamError USAGE that names the flag and what of it is wrong */
export function trustOf(flags: TrustFlags & CephFlags): CephTrust {
  const asksOneCeph = [flags.cephConf, flags.cephName, flags.cephKeyring].some((flag) => flag !== undefined)
  const parsed = parseTrust({ ...flags, asksOneCeph })
  if ('trust' in parsed) return parsed.trust
  throw new CofferdamError('USAGE', parsed.problem, { hint: 'cofferdam operator --help shows what they mean' })
}
