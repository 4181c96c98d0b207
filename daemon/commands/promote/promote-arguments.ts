/** Options of `postern promote`. */

export interface PromoteArguments {
  /** Id of the destination. */
  readonly destination: string
  /** Routes all mail of the project to the destination. */
  readonly defaultRoute: boolean
  readonly project: string | undefined
  readonly asJson: boolean
}

export const promoteOptions = { 'default-route': { type: 'boolean' }, project: { type: 'string' } } as const

type Values = Readonly<Record<string, unknown>>

export const promoteArguments = (destination: string, values: Values): PromoteArguments => ({
  destination,
  defaultRoute: values['default-route'] === true,
  project: typeof values['project'] === 'string' ? values['project'] : undefined,
  asJson: values['json'] === true,
})
