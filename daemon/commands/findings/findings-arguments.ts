/** Options of `postern findings`. */

export interface FindingsArguments {
  /** Lists findings of this project and of the whole organization. */
  readonly project: string | undefined
  /** Lists ended findings. */
  readonly areOver: boolean
  readonly asJson: boolean
}

export const findingsOptions = { project: { type: 'string' }, over: { type: 'boolean' } } as const

type Values = Readonly<Record<string, unknown>>

export const findingsArguments = (values: Values): FindingsArguments => ({
  project: typeof values['project'] === 'string' ? values['project'] : undefined,
  areOver: values['over'] === true,
  asJson: values['json'] === true,
})
