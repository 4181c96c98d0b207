/** Addresses that an inbound route accepts. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import type { InboundRoute } from '../wire/operations.ts'
import { words } from './inbound-words.ts'

/** Returns the pattern with the inbound domain, if one is configured. */
export const takenBy = ({ address, local_part_pattern: pattern }: InboundRoute): string => address ?? `${pattern}@…`

export const NoDomain = (): JSX.Element => (
  <div class="note warn">
    <Mark name="warning" />
    <p>
      <b>{words().noDomain}</b> {words().noDomainText}
    </p>
  </div>
)
