import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseKubeconfig } from '@cofferdam/kubernetes/client/kubeconfig.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { parseCephFacts } from '@cofferdam/product/capabilities/ceph-drain/domain/ceph-facts.ts'
import { parseDomainRecord } from '@cofferdam/product/capabilities/ceph-drain/domain/domain-record.ts'
import { parseDrainState } from '@cofferdam/product/capabilities/ceph-drain/domain/state-map.ts'
import { parseAttempt } from '@cofferdam/product/capabilities/drain-detection/domain/attempt.ts'
import { parseBudgetHold } from '@cofferdam/product/capabilities/drain-lock/domain/budget-hold.ts'
import { parseEvictionToken } from '@cofferdam/product/capabilities/drain-lock/domain/eviction-token.ts'
import { parseEvidence } from '@cofferdam/product/capabilities/fencing/domain/budget-notes.ts'
import { parseFences } from '@cofferdam/product/capabilities/fencing/domain/recorded-fences.ts'
import { parseHandedPlaces } from '@cofferdam/product/capabilities/kured/domain/handed-places.ts'
import { parseKuredLock } from '@cofferdam/product/capabilities/kured/domain/kured-lock.ts'
import { parseRebootWindow } from '@cofferdam/product/capabilities/kured/domain/reboot-window.ts'
import { parseMovingRecord } from '@cofferdam/product/capabilities/longhorn-drain/domain/moving-record.ts'
import { parseRevertedRecord } from '@cofferdam/product/capabilities/longhorn-drain/domain/reverted-record.ts'
import { parseUpdateRecord } from '@cofferdam/product/capabilities/osd-update/domain/update-record.ts'
import { parseJsonText } from '@cofferdam/product/ceph/json-shape.ts'
import { decodeReview } from '@cofferdam/product/eviction-guard/admission-review.ts'
import { parseGuardPath } from '@cofferdam/product/eviction-guard/domain/webhook-configuration.ts'
import { defaultAppLockPolicy, parseAppLock } from '@cofferdam/product/ledger/rules/app-lock.ts'
import { parseBreakGlass } from '@cofferdam/product/ledger/rules/break-glass.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import { parseSettings } from '@cofferdam/product/ledger/rules/published-settings.ts'
import { parseIgnoredPools } from '@cofferdam/product/safety/ignored-pools.ts'
import type { DisruptionLedger } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { type FuzzTarget, nowMs, root, textsOf } from './fuzz-target.ts'

const isOwn = (error: unknown) => error instanceof CofferdamError

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

/** What people, users and older versions of ourselves write as one text. */
export const writtenTexts: Readonly<Record<string, FuzzTarget>> = {
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
  'failure domains as recorded': {
    parse: parseDomainRecord,
    seeds: [
      '{"total":1,"held":1,"answers":[{"domain":"a","osds":[0],"nodes":["n"],"mayDrain":false,"reason":"r","explanation":"e"}]}',
    ],
  },
  'what Ceph said, as recorded': {
    parse: parseCephFacts,
    seeds: [
      '{"at":"2026-01-01T00:00:00Z","pgs":{"active+clean":33},"noout":{"isClusterWide":false,"buckets":["a"],"osds":[0]},"mons":{"inQuorum":["a"],"out":["b"]}}',
    ],
  },
  'the state of drains': {
    parse: (text) => parseDrainState(textsOf(text)),
    seeds: [
      '{"draining-failure-domain":"a","set-no-out":"true","a-noout-last-set-at":"2026-01-01T00:00:00Z","cofferdam.io_spare-osds":"3,4"}',
    ],
  },
  'the record of an update': {
    parse: (text) => parseUpdateRecord({ record: text }, 3),
    seeds: [
      '{"generation":3,"done":2,"failed":[{"osd":1,"why":"w","atMs":5}],"noout":[1],"turns":{"had":["a"],"open":{"nodes":["a"],"askedMs":1}},"release":{"atMs":3,"lag":"l"},"overrides":{"count":1,"last":{"osd":1,"why":"w","atMs":5}}}',
    ],
  },
  'the lock of kured': {
    parse: parseKuredLock,
    seeds: ['{"nodeID":"a","metadata":{"unschedulable":false},"created":"2026-01-01T00:00:00Z","TTL":0}'],
  },
  'places handed to kured': {
    parse: parseHandedPlaces,
    seeds: ['{"a":{"boot":"b","created":"2026-01-01T00:00:00Z","since":"2026-01-01T00:00:00Z"}}'],
  },
  'reboot windows': {
    parse: (text) => {
      const [days, start, end, timeZone] = text.split(' ')
      return parseRebootWindow({ days, start, end, timeZone })
    },
    seeds: ['mon,tue 1:00 23:59 UTC', 'sa 09:00 17:00 Europe/Madrid'],
  },
  'fences on budgets of machines': {
    parse: parseFences,
    seeds: ['{"machine-a":{"node":"a","bootID":"b","scope":"s","since":"2026-01-01T00:00:00Z"}}'],
  },
  'evidence on budgets of machines': {
    parse: parseEvidence,
    seeds: ['{"clean":true,"up":"0-2,5"}', '{"unknown":"why","silent":"2026-01-01T00:00:00Z"}'],
  },
  'settings of the operator': {
    parse: parseSettings,
    seeds: [
      '{"mode":"reserve","minTolerationSeconds":60,"fallbackAfterSeconds":60,"maxLockSeconds":60,"maxHoldSeconds":60,"locksPerNamespace":3,"cephClusters":["a/b"],"ownOsds":[],"growOsds":[]}',
    ],
  },
  'pools that do not count': { parse: parseIgnoredPools, seeds: ['{"scratch":"build cache, can be lost"}'] },
  'copies that move': { parse: parseMovingRecord, seeds: ['{"since":"2026-01-01T00:00:00Z","bytes":1024}'] },
  'settings of Longhorn that came back': {
    parse: (text) => parseRevertedRecord(text, nowMs),
    seeds: ['{"at":"2026-01-01T00:00:00Z","says":"it is changed back"}'],
  },
  'paths of the guard': { parse: parseGuardPath, seeds: ['/validate/eviction/word', '/validate/locked/word'] },
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
