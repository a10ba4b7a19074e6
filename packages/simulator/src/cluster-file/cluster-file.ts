import { readFile } from 'node:fs/promises'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { load, YAMLException } from 'js-yaml'
import { type App, type BatchJob, clusterSchema, type Pace, type WrittenCluster } from './cluster-schema.ts'
import { type CephClusterDescription, describeCeph } from './describe-ceph.ts'
import { describeLonghorn, type LonghornClusterDescription } from './describe-longhorn.ts'
import { describeMachines, type MachinesDescription } from './describe-machines.ts'
import { expandNodes, type NodeDescription, type Problem } from './expand-nodes.ts'
import { explainIssues } from './schema-problems.ts'

/** A cluster to build: the file with its defaults filled in and its node groups written out. */
export interface ClusterDescription {
  readonly name: string
  readonly pace: Pace
  readonly nodes: readonly NodeDescription[]
  readonly apps: readonly App[]
  readonly jobs: readonly BatchJob[]
  readonly ceph?: CephClusterDescription
  readonly longhorn?: LonghornClusterDescription
  readonly machines?: MachinesDescription
}

export async function readClusterFile(path: string): Promise<ClusterDescription> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new CofferdamError('FILE_UNREADABLE', `cannot read the cluster file ${path}: ${(cause as Error).message}`, {
      facts: { path },
      hint: 'give --cluster the path of a YAML file; examples/clusters/ holds some to start from',
      cause,
    })
  }
  return parseClusterFile(text, path)
}

/**
 * Reads a cluster description.
 *
 * @throws CofferdamError `CLUSTER_FILE_INVALID` that lists every problem found, each with its place in the file
 */
export function parseClusterFile(text: string, path: string): ClusterDescription {
  const document = parseYaml(text, path)
  const parsed = clusterSchema.safeParse(document)
  if (!parsed.success) throw invalid(path, explainIssues(parsed.error.issues, document))

  const problems: Problem[] = []
  const { name, pace, apps, jobs } = parsed.data
  checkZones(parsed.data, problems)
  const nodes = expandNodes(parsed.data, problems)
  for (const [index, app] of apps.entries()) checkApp(app, `apps[${index}]`, problems)
  checkNames('apps', apps, problems)
  checkNames('jobs', jobs, problems)
  // Their places are those of the nodes, so they are described only when these are right.
  const written: Pick<WrittenCluster, 'ceph' | 'longhorn'> = problems.length > 0 ? {} : parsed.data
  const ceph = written.ceph && describeCeph(written.ceph, nodes, problems)
  const longhorn = written.longhorn && describeLonghorn(written.longhorn, { nodes, apps }, problems)
  const machines = parsed.data.machines && describeMachines(parsed.data.machines, { name, nodes }, problems)
  if (problems.length > 0) throw invalid(path, problems)
  return {
    name,
    pace,
    nodes,
    apps,
    jobs,
    ...(ceph === undefined ? {} : { ceph }),
    ...(longhorn === undefined ? {} : { longhorn }),
    ...(machines === undefined ? {} : { machines }),
  }
}

function parseYaml(text: string, path: string): unknown {
  try {
    return load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const where = error.mark === undefined ? 'the file' : `line ${error.mark.line + 1}, column ${error.mark.column + 1}`
    throw invalid(path, [{ path: where, says: error.reason }])
  }
}

function invalid(path: string, problems: readonly Problem[]): CofferdamError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  const lines = problems.map((problem) => `  ${problem.path}: ${problem.says}`)
  return new CofferdamError('CLUSTER_FILE_INVALID', `${path} has ${count}:\n${lines.join('\n')}`, {
    facts: { path, problems: problems.length },
    hint: 'docs/reference/cluster-file.md describes every field',
  })
}

function checkZones({ zones }: WrittenCluster, problems: Problem[]): void {
  for (const [index, zone] of zones.entries()) {
    const first = zones.findIndex((other) => other.name === zone.name)
    if (first !== index) {
      problems.push({ path: `zones[${index}].name`, says: `"${zone.name}" is already the name of zones[${first}]` })
    }
  }
}

function checkApp(app: App, path: string, problems: Problem[]): void {
  if (app.kind === 'DaemonSet') {
    const misplaced = (['replicas', 'spread', 'pdb'] as const).filter((field) => app[field] !== undefined)
    for (const field of misplaced) {
      problems.push({
        path: `${path}.${field}`,
        says: 'a DaemonSet has none: it runs one pod on every node it may use',
      })
    }
    if (app.skipDrain) {
      problems.push({ path: `${path}.skipDrain`, says: 'a DaemonSet needs none: a drain leaves its pods in place' })
    }
    return
  }
  const { pdb } = app
  if (pdb === undefined) return
  const bounds = [pdb.minAvailable, pdb.maxUnavailable].filter((bound) => bound !== undefined)
  if (bounds.length !== 1) {
    const says =
      bounds.length === 0
        ? 'needs minAvailable or maxUnavailable'
        : 'has both minAvailable and maxUnavailable; keep one of them'
    problems.push({ path: `${path}.pdb`, says })
  }
}

function checkNames(
  section: 'apps' | 'jobs',
  entries: readonly { readonly name: string; readonly namespace: string }[],
  problems: Problem[],
): void {
  for (const [index, entry] of entries.entries()) {
    const first = entries.findIndex((other) => other.name === entry.name && other.namespace === entry.namespace)
    if (first !== index) {
      const says = `${entry.namespace}/${entry.name} is already described by ${section}[${first}]`
      problems.push({ path: `${section}[${index}].name`, says })
    }
  }
}
