/** Navigation between the parts of billing. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { texts } from './billing-texts.ts'

export function BillingAreas({ chosen }: { readonly chosen: 'usage' | 'invoices' | 'credits' }): JSX.Element {
  const w = texts()
  const entry = (name: typeof chosen, path: string): JSX.Element => (
    <a href={link(path)} aria-current={name === chosen ? 'page' : undefined}>
      {w.areas[name]}
    </a>
  )
  return (
    <nav class="areas" aria-label={w.parts}>
      {entry('usage', '/usage')}
      {entry('invoices', '/usage/invoices')}
      {entry('credits', '/usage/credits')}
    </nav>
  )
}
