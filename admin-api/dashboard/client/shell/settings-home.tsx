/** Home of the settings: the list of sections on narrow windows, the first section on wide ones. */
import type { JSX } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { go } from '../app/location.ts'
import { FrameContext } from '../frame/frame.ts'
import { useNarrow } from '../frame/narrow.ts'
import { SectionList } from '../frame/section-list.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts/shell-texts.ts'

export default function SettingsHome(): JSX.Element {
  const w = texts()
  const { sections } = useContext(FrameContext)
  const first = sections[0]?.links[0]?.href
  const isNarrow = useNarrow('(max-width: 900px)')
  useEffect(() => {
    if (!isNarrow && first !== undefined) go(first, { replaces: true })
  }, [isNarrow, first])
  return (
    <>
      <TopBar title={w.entries.settings} heading={<span>{w.entries.settings}</span>} />
      <div class="sheet">
        <SectionList groups={sections} label={w.settingsSections} />
      </div>
    </>
  )
}
