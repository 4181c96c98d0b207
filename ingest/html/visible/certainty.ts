/** How sure it is that a condition holds: a reader of styles is no browser, and what it cannot judge is neither yes nor no. */

export type Certainty = 'no' | 'maybe' | 'yes'

const order: readonly Certainty[] = ['no', 'maybe', 'yes']

/** The certainty that all conditions hold. */
export const allOf = (parts: readonly Certainty[]): Certainty => (parts.includes('no') ? 'no' : parts.includes('maybe') ? 'maybe' : 'yes')

/** The certainty that one of the conditions holds. */
export const anyOf = (parts: readonly Certainty[]): Certainty => (parts.includes('yes') ? 'yes' : parts.includes('maybe') ? 'maybe' : 'no')

export const notThat = (certainty: Certainty): Certainty => order[2 - order.indexOf(certainty)] ?? 'maybe'

export const certainly = (holds: boolean): Certainty => (holds ? 'yes' : 'no')
