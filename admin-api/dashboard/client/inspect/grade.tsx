/** Grade of a report in the shape of the door logo. The color carries the same meaning. */
import type { JSX } from 'preact'
import type { InspectTest } from '../wire/api.d.ts'

export const Grade = ({ test: { grade } }: { readonly test: Pick<InspectTest, 'grade'> }): JSX.Element => (
  <span class={`grade ${tone(grade)}`}>{grade ?? '–'}</span>
)

const tone = (grade: InspectTest['grade']): string =>
  grade === 'A' || grade === 'B' ? 'good' : grade === 'C' || grade === 'D' ? 'warn' : 'bad'
