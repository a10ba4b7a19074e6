import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { daemonSets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { ListInformers } from '@cofferdam/kubernetes/informers/list-informers.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { quietLog } from '@cofferdam/kubernetes/runtime/log.ts'
import { Option } from 'commander'
import { longhornDrainPermissions } from '../../capabilities/longhorn-drain/controller/controller.ts'
import { instanceManagerSelector } from '../../capabilities/longhorn-drain/domain/budget-object.ts'
import { planLonghornHandOver } from '../../capabilities/longhorn-drain/domain/hand-over.ts'
import type {
  LonghornHandOverSnapshot,
  LonghornHandOverWish,
} from '../../capabilities/longhorn-drain/domain/hand-over-snapshot.ts'
import { judgeInstanceManagers } from '../../capabilities/longhorn-drain/domain/instance-manager-cover.ts'
import { longhornManagerSelector } from '../../capabilities/longhorn-drain/domain/longhorn-manager.ts'
import type { LonghornObjects } from '../../capabilities/longhorn-drain/domain/parse-longhorn.ts'
import { drainPolicySetting } from '../../capabilities/longhorn-drain/domain/policy.ts'
import { drainModes, drainPolicies } from '../../capabilities/longhorn-drain/domain/snapshot.ts'
import { observeLonghorn, observePlaces, unreadViews } from '../../capabilities/longhorn-drain/observe/observe.ts'
import { openLonghornViews } from '../../capabilities/longhorn-drain/observe/views.ts'
import { observeGuard } from '../../eviction-guard/observe-guard.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { openSharedViews } from '../../observe/shared-views.ts'
import type { HandOverDirection } from '../../shared/hand-over.ts'
import { type Observed, unknown } from '../../shared/observed.ts'
import type { HandOverKind, HandOverPorts } from './hand-over-kind.ts'
import { observeOperatorRights } from './observe-operator-rights.ts'

/** Without `observe`, which a release leaves. */
const modes = drainModes.filter((mode) => mode !== 'observe')

/** The drains of a Longhorn, between its own manager and Cofferdam. */
export const longhornHandOver: HandOverKind = {
  form: 'longhorn/NAMESPACE',
  listedBy: `kubectl get settings.longhorn.io -A --field-selector metadata.name=${drainPolicySetting}`,
  commands: {
    adopt: {
      description:
        'checks whether the operator can take part in the drains of this Longhorn, then puts the mode on its setting node-drain-policy with one patch, and waits until the operator has changed what follows from it; with hold, until its budgets are there. Works in the middle of a drain.',
      examples: [
        {
          line: 'cofferdam adopt longhorn/longhorn-system --mode hold --dry-run',
          says: 'show the checks, and which drains would be held',
        },
        {
          line: 'cofferdam adopt longhorn/longhorn-system --mode hold --policy block-for-eviction --trigger drain',
          says: 'move replicas off nodes that are drained, and hold the nodes until that is done',
        },
      ],
      options: [
        new Option('--mode <mode>', "Longhorn: Cofferdam's part in drains").choices(modes),
        new Option('--policy <policy>', 'Longhorn: the policy in force while a node leaves').choices(drainPolicies),
        new Option('--trigger <what>', 'Longhorn: when a node leaves').choices(['cordon', 'drain']),
      ],
    },
    release: {
      description:
        "removes the mode from the setting node-drain-policy with one patch, and waits until Cofferdam's budgets are gone and what it has changed of Longhorn's setting and nodes is restored. In the middle of a drain it warns which nodes Longhorn releases by its own policy.",
      examples: [{ line: 'cofferdam release longhorn/longhorn-system', says: 'leave the drains to Longhorn' }],
      options: [],
    },
  },
  prepare({ direction, names: [namespace = ''], flags }) {
    const wants = flags as LonghornHandOverWish
    if (direction === 'adopt' && wants.mode === undefined) {
      throw new CofferdamError('USAGE', `Longhorn can be adopted in several ways: choose one with --mode`, {
        hint: `--mode ${modes.join(' or --mode ')}; docs/longhorn-drain.md says what each does`,
      })
    }
    const object = `longhorn/${namespace}`
    return (ports) => {
      let missingRights: LonghornHandOverSnapshot['missingRights'] | undefined
      return {
        object,
        to: direction === 'release' || wants.mode === 'guide' ? 'Longhorn' : 'Cofferdam',
        namespace,
        again: `${direction} ${object}${direction === 'adopt' ? ` --mode ${wants.mode}` : ''}`,
        shownBy: 'cofferdam status',
        doneText:
          direction === 'release'
            ? "Longhorn decides drains alone; nothing of Cofferdam's is left."
            : `mode ${wants.mode} is in force.`,
        protects: 'instanceManagers',
        protectsText: 'instance managers',
        isUnprotectedOnPurpose: false,
        async plan() {
          const seen = await observe(ports, { direction, namespace, wants }, missingRights)
          missingRights = seen.missingRights
          return planLonghornHandOver(seen)
        },
        async write(body) {
          const { api, signal } = ports
          const key = { namespace, name: drainPolicySetting }
          await api.patch(longhornSettings, key, { type: 'merge', body }, { fieldManager: 'cofferdam', signal })
        },
        async judge(before, budgets, signal) {
          return judge({ ...ports, signal }, { before, budgets: [...budgets], namespace })
        },
      }
    }
  },
}

interface Asked {
  readonly direction: HandOverDirection
  readonly namespace: string
  readonly wants: LonghornHandOverWish
}

async function observe(
  ports: HandOverPorts,
  asked: Asked,
  /** Where that was asked before. */
  askedRights: LonghornHandOverSnapshot['missingRights'] | undefined,
): Promise<LonghornHandOverSnapshot> {
  const { api, clock, signal, leaseNamespace } = ports
  const { direction, namespace, wants } = asked
  const [operator, { places, longhorn }, managers, isGuarded] = await Promise.all([
    observeOperator({ api, leaseNamespace, now: timestamp(clock), signal }, []),
    readLonghornObjects(ports, namespace),
    ifAllowed('daemonsets', [], () =>
      api.list(daemonSets, { namespace, labelSelector: longhornManagerSelector, signal }),
    ),
    observeGuard({ api, signal }),
  ])
  const { leader } = operator
  const rights = longhornDrainPermissions
  const images = (managers?.items ?? []).flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image))
  return {
    direction,
    namespace,
    longhorn,
    places,
    isOperatorRunning: operator.isRunning,
    isGuarded,
    missingRights: askedRights ?? (await observeOperatorRights(ports, { leader, namespace, rights })),
    managerImages: [...new Set(images.flatMap((image) => image ?? []))].sort(),
    wants,
  }
}

/** Listed now, through the views of the operator; undefined where Longhorn is not in this namespace. */
async function readLonghornObjects(
  { api, clock, signal }: Pick<HandOverPorts, 'api' | 'clock' | 'signal'>,
  namespace: string,
): Promise<{ readonly places: readonly string[]; readonly longhorn: Observed<LonghornObjects> | undefined }> {
  const notSeen: string[] = []
  const informers = new ListInformers({ api, clock, signal, notSeen })
  const log = quietLog
  const views = openLonghornViews({ informers, log, views: openSharedViews({ informers, log }) })
  await informers.settled()
  if (unreadViews(views).length > 0) return { places: [], longhorn: unknown(notSeen.join('; ')) }
  const places = observePlaces(views)
  const longhorn = observeLonghorn(views, clock.now())
  const isElsewhere = longhorn.known && !places.includes(namespace)
  return { places, longhorn: isElsewhere ? undefined : longhorn }
}

/** Longhorn is read only where an instance manager has lost its budget: then the decision says whether it may go. */
async function judge(
  ports: Pick<HandOverPorts, 'api' | 'clock' | 'signal'>,
  now: {
    readonly before: ReadonlySet<string>
    readonly budgets: readonly PodDisruptionBudget[]
    readonly namespace: string
  },
): ReturnType<ReturnType<ReturnType<HandOverKind['prepare']>>['judge']> {
  const { api, signal } = ports
  const { before, budgets, namespace } = now
  const { items } = await api.list(pods, { namespace, labelSelector: instanceManagerSelector, signal })
  const cover = judgeInstanceManagers(before, { pods: items, budgets, longhorn: undefined })
  if (cover.lost.length === 0) return cover
  const { longhorn } = await readLonghornObjects(ports, namespace)
  const objects = longhorn?.known === true ? longhorn.value : undefined
  return judgeInstanceManagers(before, { pods: items, budgets, longhorn: objects })
}
