import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseOsdUuids } from '@cofferdam/product/capabilities/osd-update/observe/observe-osd-uuids.ts'
import { parseJsonText } from '@cofferdam/product/ceph/json-shape.ts'
import { parseCrush } from '@cofferdam/product/ceph/parse-crush.ts'
import { parseOkToStop, parseStoppable } from '@cofferdam/product/ceph/parse-ok-to-stop.ts'
import { parseOkToUpgrade } from '@cofferdam/product/ceph/parse-ok-to-upgrade.ts'
import { parseOsdDump } from '@cofferdam/product/ceph/parse-osd-dump.ts'
import { parseOsdMetadata } from '@cofferdam/product/ceph/parse-osd-metadata.ts'
import { parseOsdTree } from '@cofferdam/product/ceph/parse-osd-tree.ts'
import { parsePgDump } from '@cofferdam/product/ceph/parse-pg-dump.ts'
import { parsePgListing } from '@cofferdam/product/ceph/parse-pg-listing.ts'
import { parsePoolDetail } from '@cofferdam/product/ceph/parse-pool-detail.ts'
import { parseQuorum } from '@cofferdam/product/ceph/parse-quorum.ts'
import { parseStatus } from '@cofferdam/product/ceph/parse-status.ts'
import { parsePgBytes } from '@cofferdam/product/ceph/pg-parser.ts'
import { parseSafeToDestroy } from '@cofferdam/product/ceph/safe-to-destroy.ts'
import { type FuzzTarget, root } from './fuzz-target.ts'

const sampleFile = (file: string) =>
  readFileSync(join(root, 'packages/cofferdam/src/ceph/testing/samples', file), 'utf8')
const sample = (name: string) => sampleFile(`${name}.json`)

/** As the commands of Ceph are read: text that is no JSON is unknown. */
const ofCeph = (parse: (json: unknown) => unknown) => (text: string) => {
  const json = parseJsonText('fuzz', text)
  return json.known ? parse(json.value) : json
}

/** What Ceph prints, and what a broken toolbox or an older release may print instead. */
export const cephAnswers: Readonly<Record<string, FuzzTarget>> = {
  'ceph status': { parse: ofCeph(parseStatus), seeds: [sample('osd0-down-status')] },
  'ceph osd dump': { parse: ofCeph(parseOsdDump), seeds: [sample('flags-osd-dump')] },
  'ceph osd tree': { parse: ofCeph(parseOsdTree), seeds: [sample('healthy-osd-tree')] },
  'ceph osd crush dump': { parse: ofCeph(parseCrush), seeds: [sample('healthy-osd-crush-dump')] },
  'ceph quorum_status': { parse: ofCeph(parseQuorum), seeds: [sample('quorum-status')] },
  'ceph pg dump': {
    parse: parsePgListing,
    seeds: ['PG_STAT STATE UP UP_PRIMARY ACTING ACTING_PRIMARY\n1.0 active+clean [0,1,2] 0 [0,1,2] 0\n'],
  },
  'ceph pg dump, as bytes': {
    parse: (text) => parsePgBytes([Buffer.from(text)]),
    seeds: [
      sampleFile('healthy-pg-dump-pgs-plain.txt').slice(0, 2_000),
      sample('healthy-pg-dump-pgs_brief').slice(0, 2_000),
    ],
  },
  'ceph pg dump, as JSON': { parse: ofCeph(parsePgDump), seeds: [sample('healthy-pg-dump-pgs_brief')] },
  'ceph osd pool ls detail': { parse: ofCeph(parsePoolDetail), seeds: [sample('osd-pool-ls-detail')] },
  'ceph osd metadata': { parse: ofCeph(parseOsdMetadata), seeds: [`[${sample('osd-metadata-0')}]`] },
  'ceph osd dump, for identities': { parse: ofCeph(parseOsdUuids), seeds: [sample('healthy-osd-dump')] },
  'ceph osd ok-to-stop': {
    parse: (out) => [
      parseOkToStop({ code: 0, out, err: '' }, [0, 1]),
      parseStoppable({ code: 16, out, err: out }, [0]),
    ],
    seeds: [sample('ok-to-stop-single-ok'), sample('ok-to-stop-3-notok')],
  },
  'ceph osd ok-to-upgrade': {
    parse: (out) => parseOkToUpgrade({ code: 0, out, err: '' }),
    seeds: ['{"ok_to_upgrade":{"osds":[0,1],"all_osds_upgraded":false}}'],
  },
  'ceph osd safe-to-destroy': {
    parse: ofCeph((json) => parseSafeToDestroy(json, [0, 1])),
    seeds: ['{"safe_to_destroy":[0],"active":[1],"missing_stats":[],"stored_pgs":[]}'],
  },
}
