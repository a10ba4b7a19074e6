export interface BudgetReference {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface PodReference {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}
