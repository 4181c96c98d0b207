/** Row about errors of the service, on the overview of its operators. */
import type { JSX } from 'preact'
import { boot } from '../app/boot.ts'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { texts } from './findings-texts.ts'

const lookMs = 60_000

export default function OperatorRow(): JSX.Element | null {
  const w = texts()
  const { data } = useRead('/operator/v1/doctor', boot.isOperator ? {} : undefined, { every: lookMs })
  const errors = data?.findings.filter(({ severity, organization_name: of }) => severity === 'error' && of === null) ?? []
  const [first] = errors
  if (!first) return null
  const title = w.serviceProblems({ count: errors.length })
  return (
    <ul class="look" aria-label={title}>
      <li>
        <Mark name="warning" />
        <div>
          <b>{title}</b>
          <p lang="en">{plain(first.summary)}</p>
        </div>
        <span class="look-acts">
          <a class="button" href={link('/operator')}>
            {w.steps.openOperator}
          </a>
        </span>
      </li>
    </ul>
  )
}
