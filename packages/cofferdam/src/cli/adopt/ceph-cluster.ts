import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookOperatorSelector } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { configMaps, deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { Option } from 'commander'
import { observedName } from '../../capabilities/ceph-drain/apply/record.ts'
import { cephDrainPermissions } from '../../capabilities/ceph-drain/controller/controller.ts'
import { cephStaticBudgetsPermissions } from '../../capabilities/ceph-drain/controller/static-budgets.ts'
import {
  type CephHandOverSnapshot,
  type CephHandOverWish,
  planCephHandOver,
} from '../../capabilities/ceph-drain/domain/hand-over.ts'
import { judgeProtection } from '../../capabilities/ceph-drain/domain/protection.ts'
import { parseDrainState, stateMapName } from '../../capabilities/ceph-drain/domain/state-map.ts'
import { osdUpdatePermissions } from '../../capabilities/osd-update/controller/controller.ts'
import { paceHoldOf } from '../../capabilities/osd-update/domain/pace-label.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import type { UpdatesChoice } from '../../safety/ceph-ownership.ts'
import { doesRookRun } from '../../shared/ceph-trust/rook-runs.ts'
import type { HandOverDirection } from '../../shared/hand-over.ts'
import { findObject } from '../explain/find-object.ts'
import type { HandOverKind, HandOverPorts } from './hand-over-kind.ts'
import { observeOperatorRights } from './observe-operator-rights.ts'

/** The budgets of a CephCluster, between Rook and Cofferdam. */
export const cephClusterHandOver: HandOverKind = {
  form: 'cephcluster/NAMESPACE/NAME',
  listedBy: 'kubectl get cephclusters -A',
  commands: {
    adopt: {
      description:
        "checks whether the operator can manage the budgets of a CephCluster, then switches Rook's handling off and Cofferdam's on with one patch, and waits until every budget is taken over. Rook's budgets are taken over in place, also in the middle of a drain.",
      examples: [
        { line: 'cofferdam adopt cephcluster/rook-ceph/rook-ceph --dry-run', says: 'show the checks and the plan' },
        { line: 'cofferdam adopt cephcluster/rook-ceph/rook-ceph', says: 'hand the budgets over, and wait' },
      ],
      options: [
        new Option('--updates <what>', 'Ceph: what Cofferdam does with OSD updates').choices(['off', 'plan', 'pace']),
        new Option('--force', 'Ceph: go on although Ceph does not answer the operator'),
      ],
    },
    release: {
      description:
        "switches Cofferdam's handling of the budgets off and Rook's on with one patch, and waits until nothing of Cofferdam's is left: budgets stay in place without its label, a recorded drain goes on under Rook, other flags are unset. Refused while no Rook runs, unless --without-successor says that all budgets are to go.",
      examples: [
        { line: 'cofferdam release cephcluster/rook-ceph/rook-ceph', says: 'hand the budgets back to Rook' },
        {
          line: 'cofferdam release cephcluster/rook-ceph/rook-ceph --without-successor',
          says: "remove Cofferdam's budgets; OSDs have none then",
        },
      ],
      options: [new Option('--without-successor', 'Ceph: remove the budgets, where no Rook takes them')],
    },
  },
  prepare({ direction, names: [namespace = '', name = ''], flags }) {
    const updates = flags['updates'] as UpdatesChoice | undefined
    const wants: CephHandOverWish = {
      ...(updates === undefined ? {} : { updates }),
      isWithoutSuccessor: flags['withoutSuccessor'] === true,
      isForced: flags['force'] === true,
    }
    const to = direction === 'adopt' ? 'Cofferdam' : wants.isWithoutSuccessor ? 'no operator' : 'Rook'
    const subject = { namespace, name }
    const object = `cephcluster/${namespace}/${name}`
    return (ports) => {
      const { api, signal } = ports
      const asked = { direction, subject, wants }
      let missingRights: CephHandOverSnapshot['missingRights'] | undefined
      return {
        object,
        to,
        namespace,
        again: `${direction} ${object}${wants.isWithoutSuccessor ? ' --without-successor' : ''}`,
        shownBy: `cofferdam explain ${object}`,
        doneText: to === 'no operator' ? "Cofferdam's budgets are removed." : `the budgets are handed over to ${to}.`,
        protects: 'osds',
        protectsText: 'OSDs',
        isUnprotectedOnPurpose: wants.isWithoutSuccessor,
        async plan() {
          const seen = await observe(ports, asked, missingRights)
          missingRights = seen.missingRights
          return planCephHandOver(seen)
        },
        async write(body) {
          await api.patch(cephClusters, subject, { type: 'merge', body }, { fieldManager: 'cofferdam', signal })
        },
        async judge(before, budgets, ending) {
          const [{ items: osdPods }, openDomains] = await Promise.all([
            api.list(pods, { namespace, labelSelector: osdSelector, signal: ending }),
            readOpenDomains({ api, signal: ending }, namespace),
          ])
          return judgeProtection(before, { osdPods, budgets, openDomains })
        },
      }
    }
  },
}

interface Asked {
  readonly direction: HandOverDirection
  readonly subject: { readonly namespace: string; readonly name: string }
  readonly wants: CephHandOverWish
}

const osdSelector = 'app=rook-ceph-osd'

async function observe(
  ports: HandOverPorts,
  { direction, subject, wants }: Asked,
  /** Where that was asked before. */
  askedRights: CephHandOverSnapshot['missingRights'] | undefined,
): Promise<CephHandOverSnapshot> {
  const { api, clock, signal, leaseNamespace } = ports
  const { namespace } = subject
  const [cluster, settings, operator, rooks, osds, stateMap, observed, budgets, osdPods] = await Promise.all([
    findObject(cephClusters, subject, { api, signal }),
    observeSettings({ api, signal }),
    observeOperator({ api, leaseNamespace, now: timestamp(clock), signal }, []),
    api.list(deployments, { labelSelector: rookOperatorSelector, signal }),
    api.list(deployments, { namespace, labelSelector: osdSelector, signal }),
    readMap(ports, namespace, stateMapName),
    readMap(ports, namespace, observedName),
    api.list(podDisruptionBudgets, { namespace, signal }),
    api.list(pods, { namespace, labelSelector: osdSelector, signal }),
  ])
  const isPaced = direction === 'adopt' && wants.updates === 'pace'
  const rights = [...cephDrainPermissions, ...cephStaticBudgetsPermissions, ...(isPaced ? pacePermissions : [])]
  const { leader } = operator
  return {
    direction,
    cluster,
    trust: settings.trust,
    isOperatorRunning: operator.isRunning,
    rookRuns: doesRookRun(subject, rooks.items, () => osds.items),
    stateMap,
    observed,
    budgets: budgets.items,
    osdPods: osdPods.items,
    versions: { rook: labelsOf(osds.items, 'rook-version'), ceph: labelsOf(osds.items, 'ceph-version') },
    missingRights: askedRights ?? (await observeOperatorRights(ports, { leader, namespace, rights })),
    pacedOsds: osds.items.filter((osd) => paceHoldOf(osd) === 'ours').map(({ metadata }) => metadata.name),
    wants,
  }
}

const pacePermissions = osdUpdatePermissions.filter(({ grantedBy }) => grantedBy === 'ceph-pace')

function readMap({ api, signal }: HandOverPorts, namespace: string, name: string): Promise<ConfigMap | undefined> {
  return ifAllowed(`configmap ${namespace}/${name}`, [], () =>
    api.get<ConfigMap>(configMaps, { namespace, name }, { signal }),
  )
}

/** Throws where it may not be read: without them OSDs of an open failure domain would count as without protection. */
async function readOpenDomains(
  { api, signal }: Pick<HandOverPorts, 'api' | 'signal'>,
  namespace: string,
): Promise<readonly string[]> {
  try {
    const { data } = await api.get(configMaps, { namespace, name: stateMapName }, { signal })
    return parseDrainState(data).openDomains
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    return []
  }
}

/** What the Deployments say in this label, each once. */
function labelsOf(osds: readonly Deployment[], label: string): readonly string[] {
  return [...new Set(osds.flatMap(({ metadata }) => metadata.labels?.[label] ?? []))].sort()
}
