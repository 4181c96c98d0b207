/** Character counters of long answers. Screen readers announce the count near the limit. */
import { all, element, filled } from './dom.ts'
import type { FormState } from './form-state.ts'

const loudFrom = 0.9

/** Returns a function that updates the counters. */
export function countCharacters({ form, plan }: FormState): () => void {
  const number = new Intl.NumberFormat(plan.texts.locale)
  const counters = all<HTMLTextAreaElement>(form, 'textarea').flatMap((area) => {
    const note = area.parentElement?.querySelector<HTMLElement>('.note')
    if (!note) return []
    const loud = element('span', 'unseen')
    loud.setAttribute('role', 'status')
    note.after(loud)
    return [{ area, note, loud }]
  })
  return () => {
    for (const { area, note, loud } of counters) {
      // the browser also counts a line end as one character
      const { length } = area.value
      const text = filled(plan.texts.counted, { used: number.format(length), max: number.format(area.maxLength) })
      note.textContent = text
      loud.textContent = length >= area.maxLength * loudFrom ? text : ''
    }
  }
}
