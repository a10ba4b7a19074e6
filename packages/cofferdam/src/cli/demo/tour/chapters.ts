import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { TourPlaces } from './tour-places.ts'
import type { ChangeStep, Chapter, CommandStep } from './tour-step.ts'

/**
 * The capabilities one after the other. Each chapter leaves the cluster as healthy as it found it, but for the last: the new machine has
 * a name that the CephCluster does not list.
 */
export const chapters: readonly ((places: TourPlaces) => Chapter)[] = [
  beginWithStatus,
  drainOneZone,
  obeyTheLock,
  moveTheLastCopy,
  updateTheOsds,
  planAllNodes,
  fenceTheDead,
]

function beginWithStatus(): Chapter {
  return {
    title: 'What the cluster holds',
    steps: [
      {
        says: 'Nine nodes in three zones with apps, Ceph and Longhorn. Each line of status is the word of one capability.',
        argv: ['status'],
        expects: { says: 'nine nodes are ready', exitCode: 0, prints: /Nodes +9 ready/ },
        withinSeconds: 60,
      },
    ],
  }
}

function drainOneZone(): Chapter {
  return {
    title: 'Ceph: one zone at a time',
    steps: [
      {
        says: 'Every pool keeps its copies in three zones, and one zone may be away. Take a node of zone a out for a reboot.',
        argv: ['drain', 'worker-a1', '--timeout', '5m'],
        expects: { says: 'the drain ends', exitCode: 0, prints: /worker-a1 +drained/ },
      },
      {
        says: 'Now a node of zone b would take a second copy of the same data. It is blocked, and the answer says by what and until when.',
        argv: ['explain', 'node/worker-b1'],
        expects: { says: 'zone b waits for zone a', exitCode: 3, prints: /zone b waits until a is back/ },
        withinSeconds: 60,
      },
      released('worker-a1'),
    ],
  }
}

function obeyTheLock({ orders }: TourPlaces): Chapter {
  return {
    title: 'Drain with a lock',
    steps: [
      {
        says: 'The owner of the app orders is rebalancing, and locks its budget.',
        argv: ['lock', 'pdb/orders', '-n', 'shop', '--for', '1h', '--reason', 'rebalancing'],
        expects: { says: 'the budget is locked', exitCode: 0, prints: /pdb\/shop\/orders +locked/ },
      },
      {
        says: `A pod of orders is on ${orders}. A drain of that node waits, and shows for whom.`,
        argv: ['drain', orders, '--timeout', '10s'],
        expects: { says: 'it is not done in ten seconds (exit code 4)', exitCode: 4, prints: /AppLocked/ },
      },
      {
        says: 'The owner is done.',
        argv: ['unlock', 'pdb/orders', '-n', 'shop'],
        expects: { says: 'the lock is gone', exitCode: 0, prints: /not locked/ },
      },
      {
        says: 'The request has stayed, and goes on by itself. Asking again follows it to its end.',
        argv: ['drain', orders, '--timeout', '5m'],
        expects: { says: 'the drain ends', exitCode: 0, prints: /drained and can be rebooted now/ },
      },
      released(orders),
    ],
  }
}

function moveTheLastCopy({ archive }: TourPlaces): Chapter {
  return {
    title: 'Longhorn: the only copy of a volume moves first',
    steps: [
      {
        says: `The only copy of the volume archive is on ${archive}. The drain has Longhorn copy it to another node, and waits for that.`,
        argv: ['drain', archive, '--timeout', '10m'],
        expects: {
          says: 'the copy moves, then the drain ends',
          exitCode: 0,
          prints: /Replica(MustLeave|Moving)[\s\S]* drained/,
        },
      },
      released(archive),
    ],
  }
}

function fenceTheDead({ storage }: TourPlaces): Chapter {
  const dead = storage.at(-1) ?? ''
  const other = storage[0] ?? ''
  return {
    title: 'Fencing: a machine dies',
    steps: [
      {
        says: `Switch the machine behind ${dead} off. Half a minute after its node is NotReady, a health check of OpenShift wants to replace it.`,
        kubectl: `kubectl annotate node ${dead} cofferdam.io/power=off`,
        change: {
          type: nodes,
          key: { name: dead },
          body: { metadata: { annotations: { 'cofferdam.io/power': 'off' } } },
        },
      },
      {
        says: 'Its OSDs are down, so there is nothing left to protect on it: it may be fenced.',
        argv: ['explain', `node/${dead}`],
        expects: { says: 'it may be fenced now', exitCode: 3, prints: /MachineHasNoOsds/ },
        withinSeconds: 120,
        isUrgent: true,
      },
      {
        says: 'Its data is not clean yet, so no other machine with OSDs may be fenced, whatever happens to it.',
        argv: ['explain', `node/${other}`],
        expects: { says: 'the others may not', exitCode: 3, prints: /FenceWaitsForData/ },
        withinSeconds: 60,
        isUrgent: true,
      },
      {
        says: 'A new machine takes over its disks. When all data is clean again, the machine budget allows one machine again.',
        argv: ['status'],
        expects: {
          says: 'one machine with running OSDs may go',
          exitCode: 0,
          prints: /Nodes +9 ready[\s\S]*one machine with\s+running\s+OSDs\s+may\s+go/,
        },
        withinSeconds: 300,
      },
    ],
  }
}

function updateTheOsds(): Chapter {
  const annotations = { 'cofferdam.io/update-max-in-parallel': '4', 'cofferdam.io/update-mons-first': 'false' }
  const image = 'registry.example/ceph/ceph:v19.2.4'
  return {
    title: 'Update all OSDs in the fewest safe rounds',
    steps: [
      {
        says: 'The plan first, with a lower bound.',
        argv: ['plan', 'osd-update', '--max-parallel', '4'],
        expects: { says: 'twelve OSDs in three rounds', exitCode: 0, prints: /^12 OSDs in 3 rounds$/m },
        withinSeconds: 120,
      },
      changeCephCluster(
        'Allow four at a time. In the demo nothing updates mons and mgrs, so OSDs do not wait for them.',
        `annotate cephcluster rook-ceph ${Object.entries(annotations)
          .map((pair) => pair.join('='))
          .join(' ')}`,
        { metadata: { annotations } },
      ),
      changeCephCluster(
        'Change the image.',
        `patch cephcluster rook-ceph --type merge -p '${JSON.stringify({ spec: { cephVersion: { image } } })}'`,
        { spec: { cephVersion: { image } } },
      ),
      {
        says: 'Four OSDs restart at a time, never two that one placement group needs.',
        argv: ['status'],
        expects: {
          says: 'all OSDs have the new image',
          exitCode: 0,
          prints: /all 12 OSDs up to date; 12 were updated/,
        },
        withinSeconds: 300,
      },
    ],
  }
}

function planAllNodes(): Chapter {
  return {
    title: 'Plan the reboot of all nodes',
    steps: [
      {
        says: 'Which nodes can be away together, over Ceph, Longhorn, budgets and locks at once; nothing is changed.',
        argv: ['plan', 'drain', '--all'],
        expects: { says: 'waves that hold every node', exitCode: 0, prints: /^9 nodes +\d+ waves/m },
        withinSeconds: 240,
      },
    ],
  }
}

function released(node: string): CommandStep {
  return {
    says: 'Bring it back. It is released when its pods are ready and all data is clean.',
    argv: ['uncordon', node],
    expects: { says: 'nothing is held for it', exitCode: 0, prints: /released: Nothing is held for it/ },
  }
}

function changeCephCluster(says: string, words: string, body: JsonObject): ChangeStep {
  return {
    says,
    kubectl: `kubectl -n rook-ceph ${words}`,
    change: { type: cephClusters, key: { namespace: 'rook-ceph', name: 'rook-ceph' }, body },
  }
}
