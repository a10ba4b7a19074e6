import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseKubeconfig } from '@cofferdam/kubernetes/client/kubeconfig.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { parseAttempt } from '@cofferdam/product/capabilities/drain-detection/domain/attempt.ts'
import { parseBudgetHold } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import { parseEvictionToken } from '@cofferdam/product/capabilities/drain-lock/domain/eviction-token.ts'
import { parseJsonText } from '@cofferdam/product/ceph/json-shape.ts'
import { parseCrush } from '@cofferdam/product/ceph/parse-crush.ts'
import { parseOsdDump } from '@cofferdam/product/ceph/parse-osd-dump.ts'
import { parseOsdTree } from '@cofferdam/product/ceph/parse-osd-tree.ts'
import { parsePgListing } from '@cofferdam/product/ceph/parse-pg-listing.ts'
import { parseQuorum } from '@cofferdam/product/ceph/parse-quorum.ts'
import { parseStatus } from '@cofferdam/product/ceph/parse-status.ts'
import { decodeReview } from '@cofferdam/product/eviction-guard/admission-review.ts'
import { defaultAppLockPolicy, parseAppLock } from '@cofferdam/product/ledger/rules/app-lock.ts'
import { parseBreakGlass } from '@cofferdam/product/ledger/rules/break-glass.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import type { DisruptionLedger } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'

/** A parser of text that others write, and whole texts to damage. */
export interface FuzzTarget {
  readonly parse: (text: string) => unknown
  readonly seeds: readonly string[]
  /** Whether an error is its own way to refuse. Left out: it never throws. */
  readonly mayThrow?: (error: unknown) => boolean
}

const root = resolve(import.meta.dirname, '../..')
const sample = (name: string) =>
  readFileSync(join(root, 'packages/cofferdam/src/ceph/testing/samples', `${name}.json`), 'utf8')
const nowMs = Date.UTC(2026, 0, 1)
const isOwn = (error: unknown) => error instanceof CofferdamError

/** As the commands of Ceph are read: text that is no JSON is unknown. */
const ofCeph = (parse: (json: unknown) => unknown) => (text: string) => {
  const json = parseJsonText('fuzz', text)
  return json.known ? parse(json.value) : json
}

const removal = {
  uid: 'r1',
  resource: { group: '', version: 'v1', resource: 'pods' },
  subResource: 'eviction',
  name: 'web-0',
  namespace: 'shop',
  operation: 'CREATE',
  userInfo: { username: 'ann', groups: ['system:authenticated'] },
  object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0', annotations: { a: 'b' } } },
  dryRun: false,
}
const ledger = {
  apiVersion: 'cofferdam.io/v1alpha1',
  kind: 'DisruptionLedger',
  metadata: { name: 'cluster', resourceVersion: '7' },
  status: {
    nextEpoch: 3,
    nextTicket: 2,
    entries: [
      {
        key: 'node/a',
        uid: 'u',
        holder: 'o',
        requestId: 'r',
        epoch: 1,
        state: 'Acting',
        since: '2026-01-01T00:00:00Z',
      },
    ],
    tickets: [],
  },
}

export const targets: Readonly<Record<string, FuzzTarget>> = {
  AdmissionReviews: {
    parse: decodeReview,
    seeds: [
      JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: removal }),
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: {
          ...removal,
          subResource: '',
          operation: 'DELETE',
          oldObject: { metadata: { name: 'web-0', namespace: 'shop' }, spec: { nodeName: 'a' } },
        },
      }),
    ],
  },
  'locks of owners': {
    parse: (text) => parseAppLock(text, { nowMs, budgetName: 'web', policy: defaultAppLockPolicy }),
    seeds: [
      '{"holder":"shop","reason":"sale","since":"2026-01-01T00:00:00Z","for":"2h"}',
      '{"holder":"shop","until":"2026-01-01T02:00:00Z"}',
    ],
  },
  'break-glass': {
    parse: parseBreakGlass,
    seeds: ['{"by":"ann","reason":"fire","until":"2026-01-01T00:30:00Z"}'],
  },
  'eviction tokens': { parse: parseEvictionToken, seeds: ['{"requestId":"r-1","epoch":7}'] },
  'holds on budgets': {
    parse: parseBudgetHold,
    seeds: ['{"requestId":"r-1","epoch":7,"holder":"operator","since":"2026-01-01T00:00:00Z","mode":"reserve"}'],
  },
  'eviction attempts': {
    parse: parseAttempt,
    seeds: ['{"by":"ann","at":"2026-01-01T00:00:00Z","refusedFor":"pdb/a/b"}'],
  },
  'the ledger': {
    parse: (text) => {
      const json = parseJsonText('fuzz', text)
      return json.known ? parseLedger(json.value as DisruptionLedger) : json
    },
    seeds: [JSON.stringify(ledger)],
  },
  'ceph status': { parse: ofCeph(parseStatus), seeds: [sample('osd0-down-status')] },
  'ceph osd dump': { parse: ofCeph(parseOsdDump), seeds: [sample('flags-osd-dump')] },
  'ceph osd tree': { parse: ofCeph(parseOsdTree), seeds: [sample('healthy-osd-tree')] },
  'ceph osd crush dump': { parse: ofCeph(parseCrush), seeds: [sample('healthy-osd-crush-dump')] },
  'ceph quorum_status': { parse: ofCeph(parseQuorum), seeds: [sample('quorum-status')] },
  'ceph pg dump': {
    parse: parsePgListing,
    seeds: ['PG_STAT STATE UP UP_PRIMARY ACTING ACTING_PRIMARY\n1.0 active+clean [0,1,2] 0 [0,1,2] 0\n'],
  },
  kubeconfig: {
    parse: (text) => parseKubeconfig(text, { path: 'config' }),
    mayThrow: isOwn,
    seeds: [
      'apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {server: "https://a:6443"}\ncontexts:\n- name: a\n  context: {cluster: a, user: a}\nusers:\n- name: a\n  user: {token: t}\n',
    ],
  },
  'cluster files': {
    parse: (text) => parseClusterFile(text, 'cluster.yaml'),
    mayThrow: isOwn,
    seeds: [readFileSync(join(root, 'examples/clusters/blocked-budget.yaml'), 'utf8')],
  },
}
