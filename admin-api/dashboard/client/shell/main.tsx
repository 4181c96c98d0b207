/** Entry point of the dashboard: frame, current screen and global shortcuts. */
import { computed, effect } from '@preact/signals'
import { render, type ComponentType, type JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import '../style/style.css'
import { Dialog } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { Loading, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { hasUndo, Toasts, undoLast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { speak, withTexts } from '../texts/catalog.ts'
import { texts } from '../texts/shell-texts.ts'
import { boot } from '../app/boot.ts'
import { awaySince, shownCall } from '../app/api.ts'
import { bareFrame, FrameContext } from '../frame/frame.ts'
import { isTyping, listenToKeys, pressedFor, useKeys } from '../app/keys.ts'
import { followChanges } from '../app/live.ts'
import { followLinks, go, link, organization, organizations, path } from '../app/location.ts'
import { showCutText } from './cut-text.ts'
import { entryLabel, frameOf } from './frame.tsx'
import { BottomBar, Navigation } from './navigation.tsx'
import { NoChannel } from './no-channel.tsx'
import { useNarrow } from '../frame/narrow.ts'
import { badges, isPaletteOpen, isProjectMenuOpen } from '../app/open.ts'
import { Palette } from './palette.tsx'
import { Waiting } from './waiting.tsx'
import { mayRead } from '../app/permissions.ts'
import { followProjects } from '../app/projects.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import type { Screen } from '../screens/screen.ts'
import { mayOpen, restOf, screenAt, screens } from '../screens/screens.ts'
import { followTheme, preferredLanguage, rail, setRail } from '../app/settings.ts'

const loaded = new Map<Screen, ComponentType<ScreenProps>>()

function CurrentScreen(): JSX.Element {
  const screen = screenAt(path.value)
  const [, setTurn] = useState(0)
  const [failed, setFailed] = useState<Screen>()
  const Shown = screen && loaded.get(screen)
  useEffect(() => {
    if (!screen || loaded.has(screen)) return
    withTexts(screen.load()).then(
      ({ default: component }) => {
        loaded.set(screen, component)
        setTurn((turn) => turn + 1)
      },
      () => setFailed(screen),
    )
  }, [screen])
  const rest = screen ? restOf(screen, path.value) : []
  if (Shown) return <Shown key={`${organization.value?.id ?? ''} ${screen.at}`} rest={rest} />
  const w = texts()
  const heading = screen && rest.length > 0 && screen.base === undefined && <a href={link(screen.at)}>{screen.label(w)}</a>
  return (
    <>
      <TopBar title={screen?.label(w) ?? w.nothingHere} {...(heading && { heading })} />
      <div class="sheet">
        {screen && failed !== screen ? (
          <Loading />
        ) : (
          <State title={screen ? w.notLoaded : w.nothingHere} text={screen ? w.notLoadedText : undefined}>
            <div class="actions">
              <button class="button primary" onClick={() => location.reload()}>
                {w.loadAgain}
              </button>
            </div>
          </State>
        )}
      </div>
    </>
  )
}

/**
 * Shown to users without an organization, without membership in the requested one, or without read access. Links to a screen that they can
 * use.
 */
function Outside(): JSX.Element {
  const w = texts()
  const [title, text, href, label] = organization.value
    ? [w.billingOnly, w.billingOnlyText, link('/settings/usage'), w.sections.usage]
    : organizations.value.length > 0
      ? [w.notOfOrganization, w.notOfOrganizationText, '/', w.ownOrganization]
      : [w.noOrganization, w.noOrganizationText, '/organizations', w.organizations]
  return (
    <>
      <TopBar title="Postern" />
      <div class="sheet">
        <State title={title} text={text}>
          <div class="actions">
            <a class="button primary" href={href}>
              {label}
            </a>
          </div>
        </State>
      </div>
    </>
  )
}

/** Clears badges when the organization changes, and the API call when the screen changes. */
function forgetWithPlace(): void {
  effect(() => {
    if (organization.value !== undefined) badges.value = {}
  })
  const place = computed(() => `${organization.value?.id ?? ''} ${screenAt(path.value)?.at ?? ''}`)
  effect(() => {
    if (place.value !== '') shownCall.value = undefined
  })
}

/** Screens with three columns, and screens whose pages have them. The navigation is a rail next to them. */
const workbenches: ReadonlySet<string> = new Set(['/captures', '/forms/submissions'])
const designers: ReadonlySet<string> = new Set(['/templates', '/forms'])

function Shell(): JSX.Element {
  const w = texts()
  const [showsKeys, setShowsKeys] = useState(false)
  const isNarrow = useNarrow('(min-width: 641px) and (max-width: 1180px)')
  useKeys(
    {
      'mod+k': () => void (isPaletteOpen.value = true),
      '?': () => setShowsKeys(true),
      '\\': () => setRail(!rail.value),
      ...Object.fromEntries(
        (boot.email === '' ? [] : screens).flatMap((screen) =>
          screen.key === undefined ? [] : [[`g ${screen.key}`, () => mayOpen(screen) && go(link(screen.at))] as const],
        ),
      ),
      'g p': () => void (isProjectMenuOpen.value = boot.email !== ''),
    },
    [],
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'z' && hasUndo() && !isTyping(event.target)) undoLast()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const screen = screenAt(path.value)
  if (!boot.email)
    return (
      <div class="shell open">
        <main class="page">
          <div class="screen">
            <CurrentScreen />
          </div>
        </main>
        <Toasts />
      </div>
    )
  const isWorkbench = screen !== undefined && (workbenches.has(screen.at) || (designers.has(screen.at) && path.value !== screen.at))
  const isShown = screen ? mayOpen(screen) : mayRead.value
  return (
    <div class={isNarrow || rail.value !== isWorkbench ? 'shell rail' : 'shell'}>
      <a class="skip" href="#content">
        {w.skip}
      </a>
      <Navigation />
      {organization.value && mayRead.value && <Waiting key={organization.value.id} />}
      <main class="page" id="content" tabIndex={-1}>
        <Away />
        {organization.value && mayRead.value && <NoChannel key={organization.value.id} />}
        <div class="screen">
          <FrameContext.Provider value={isShown ? frameOf(screen) : bareFrame}>
            {isShown ? <CurrentScreen /> : <Outside />}
          </FrameContext.Provider>
        </div>
      </main>
      <BottomBar />
      {isPaletteOpen.value && <Palette />}
      {showsKeys && <KeySheet onClose={() => setShowsKeys(false)} />}
      <Toasts />
    </div>
  )
}

/** Notice above the screen while the service is unreachable. */
const Away = (): JSX.Element => (
  <div role="status" class="away">
    {awaySince.value !== undefined && (
      <p class="note warn">
        <Mark name="warning" />
        <span>{texts().away({ time: shortTime(awaySince.value) })}</span>
      </p>
    )}
  </div>
)

function KeySheet({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const rows = [
    ['⌘K / Ctrl K', w.searchOrJump],
    [pressedFor('/'), w.keySearch],
    [pressedFor('n'), w.keyNew],
    [`${pressedFor('j')} ${pressedFor('k')}`, w.keyMove],
    [pressedFor('x'), w.chooseRow],
    [pressedFor('m'), w.keyMenu],
    ['Enter', w.keyOpen],
    ['Esc', w.keyBack],
    [`${pressedFor('[')} ${pressedFor(']')}`, w.keyNeighbours],
    [pressedFor('\\'), w.keyRail],
    ...screens
      .filter((screen) => screen.key !== undefined && mayOpen(screen))
      .map((screen) => [`${pressedFor('g')} ${screen.key ?? ''}`, entryLabel(screen)(w)] as const),
    [`${pressedFor('g')} p`, w.chooseProject],
  ]
  return (
    <Dialog title={w.keys} onClose={onClose}>
      <div>
        <h2>{w.keys}</h2>
        <dl class="facts all-keys">
          {rows.map(([keys, does]) => (
            <>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </>
          ))}
        </dl>
        <footer>
          <button class="button" onClick={onClose}>
            {w.close}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

async function begin(root: HTMLElement): Promise<void> {
  followTheme()
  followLinks((path) => {
    const screen = screenAt(path)
    return screen !== undefined && (boot.email !== '' || screen.isOpen === true)
  })
  listenToKeys()
  showCutText()
  followProjects()
  followChanges()
  forgetWithPlace()
  await speak(preferredLanguage()).catch(() => undefined) // falls back to English
  root.textContent = ''
  render(<Shell />, root)
}

const root = document.getElementById('app')
if (root) void begin(root)
