import { join } from 'node:path'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { findHelm } from '../parts/find-helm.ts'
import { findKubernetes } from '../parts/find-kubernetes.ts'
import type { HelmParts } from '../parts/parts.ts'
import { type Journal, openJournal } from '../processes/journal.ts'
import { type LabFolder, openLabFolder } from '../processes/lab-folder.ts'
import type { ProgramEnd } from '../processes/run-program.ts'
import type { ControlPlane } from './control-plane.ts'
import { runHelm } from './run-helm.ts'
import { runKubectl } from './run-kubectl.ts'
import { startControlPlane } from './start-control-plane.ts'

/** A real API server, and the real helm and kubectl beside it. */
export interface HelmLab {
  readonly parts: HelmParts
  /** The version of Kubernetes. */
  readonly kubernetes: string
  readonly folder: LabFolder
  readonly journal: Journal
  readonly plane: ControlPlane
  helm(...args: readonly string[]): Promise<ProgramEnd>
  /** What it printed. Rejects where it failed. */
  kubectl(...args: readonly string[]): Promise<string>
  /** Whether the account of the operator may, in the words of kubectl. */
  mayCreateBudgets(namespace: string): Promise<string>
  close(): Promise<void>
}

export async function openHelmLab(name: string): Promise<HelmLab> {
  const say = (line: string) => console.error(line)
  const parts = await findHelm(say)
  const programs = await findKubernetes(say)
  const folder = await openLabFolder(name)
  const journal = openJournal(join(folder.logs, 'journal.log'))
  const plane = await startControlPlane({ parts: programs, folder, journal })
  const account = `system:serviceaccount:${operatorAccount.namespace}:${operatorAccount.name}`
  return {
    parts,
    kubernetes: programs.version,
    folder,
    journal,
    plane,
    helm: (...args) => runHelm({ program: parts.helm, folder, plane }, args),
    kubectl: (...args) => done(runKubectl(plane, args)),
    async mayCreateBudgets(namespace) {
      const asked = ['auth', 'can-i', 'create', 'poddisruptionbudgets', '-n', namespace, `--as=${account}`]
      return (await runKubectl(plane, asked)).stdout.trim()
    },
    async close() {
      await plane.close()
      await folder.remove()
    },
  }
}

/** What a program printed. Rejects where it failed. */
export async function done(running: Promise<ProgramEnd>): Promise<string> {
  const { code, stdout, stderr } = await running
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr || stdout}`)
  return stdout.trim()
}
