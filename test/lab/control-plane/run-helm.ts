import { join } from 'node:path'
import type { LabFolder } from '../processes/lab-folder.ts'
import { type ProgramEnd, startProgram } from '../processes/run-program.ts'
import type { ControlPlane } from './control-plane.ts'

/** What helm keeps is in the folder of the lab; nothing of the user's own is read. */
export function runHelm(
  {
    program,
    folder,
    plane,
  }: { readonly program: string; readonly folder: LabFolder; readonly plane: Pick<ControlPlane, 'kubeconfig'> },
  args: readonly string[],
): Promise<ProgramEnd> {
  const environment = {
    HELM_CACHE_HOME: join(folder.path, 'helm-cache'),
    HELM_CONFIG_HOME: join(folder.path, 'helm-config'),
    HELM_DATA_HOME: join(folder.path, 'helm-data'),
    KUBECONFIG: plane.kubeconfig,
  }
  return startProgram([program, ...args], { environment }).ended
}
