/** Feature flags: a feature that the plan or the operator has disabled stays visible with the reason. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { mayRead } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import type { Flag } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { Mark } from './mark.tsx'

/** Returns undefined while loading and after a failure. The service then decides alone. */
export function useFlag(name: Flag['flag']): Flag | undefined {
  const read = useRead('/v1/flags', mayRead.value ? {} : undefined)
  return read.data?.data.find(({ flag }) => flag === name)
}

export function FeatureNote({ flag }: { readonly flag: Flag | undefined }): JSX.Element | null {
  if (flag?.enabled !== false) return null
  return (
    <div class="note warn">
      <Mark name="warning" />
      <p>
        <span lang="en">{flag.reason}</span>
      </p>
      <a class="button small" href={link('/settings/usage')}>
        {texts().sections.usage}
      </a>
    </div>
  )
}
