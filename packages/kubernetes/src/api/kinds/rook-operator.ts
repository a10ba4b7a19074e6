/** As Rook's manifests and chart label the Deployment of its operator. */
export const rookOperatorSelector = 'operator=rook,storage-backend=ceph'

/** Where it runs unless somebody chose another namespace. */
export const defaultRookNamespace = 'rook-ceph'
