/** The addresses that a route takes mail for. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import type { InboundRoute } from '../wire/operations.ts'
import { words } from './inbound-words.ts'

/** With the inbound domain, where there is one. */
export const takenBy = ({ address, local_part_pattern: pattern }: InboundRoute): string => address ?? `${pattern}@…`

export const NoDomain = (): JSX.Element => (
  <div class="note warn">
    <Mark name="warning" />
    <p>
      <b>{words().noDomain}</b> {words().noDomainText}
    </p>
  </div>
)
