/** Which DaemonSet kured is. */
export interface KuredName {
  readonly namespace: string
  readonly name: string
}

/** As kured's own manifest and chart have it. */
export const defaultKured: KuredName = { namespace: 'kube-system', name: 'kured' }
