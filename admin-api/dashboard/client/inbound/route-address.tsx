/** Addresses that an inbound route accepts. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import type { InboundRoute } from '../wire/api.d.ts'
import { texts } from './inbound-texts.ts'

/** Returns the pattern with the inbound domain, if one is configured. */
export const takenBy = ({ address, local_part_pattern: pattern }: Pick<InboundRoute, 'address' | 'local_part_pattern'>): string =>
  address ?? `${pattern}@…`

export const NoDomain = (): JSX.Element => (
  <div class="note warn">
    <Mark name="warning" />
    <p>
      <b>{texts().noDomain}</b> {texts().noDomainText}
    </p>
  </div>
)
