/** Users by which the cluster itself works: its controllers, its scheduler, its API server. The pattern is also part of the registration. */
export const ownControllers =
  /^system:(serviceaccount:kube-system:.*|kube-controller-manager|kube-scheduler|apiserver)$/
