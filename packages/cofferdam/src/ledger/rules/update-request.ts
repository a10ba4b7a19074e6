export function updateRequestId({ uid }: { readonly uid: string }): string {
  return `osd-update/${uid}`
}

/** Whether a holder of the ledger is the update of a cluster, which has no node to come back. */
export function isUpdateRequest(requestId: string): boolean {
  return requestId.startsWith(updateRequestId({ uid: '' }))
}
