/** Code that an agent shows to its user, who compares or enters it: a short word and four digits. */
import { randomInt } from 'node:crypto'

/** Short words that are easy to distinguish and harmless in any order. */
const words =
  'ACORN AMBER APPLE ARROW BADGE BAKER BARN BASIL BEACH BERRY BIRCH BOAT BRICK BROOK CABIN CANDLE CANOE CEDAR CHALK CLOUD CLOVER COAST COMET CORAL CRANE CROWN DAISY DELTA DUNE EAGLE EMBER FALCON FERN FIELD FINCH FLUTE FOREST FOX GARDEN GLOBE GRAPE HARBOR HAZEL HERON HILL HONEY ISLAND IVORY JADE JUNIPER KITE LAGOON LANTERN LEMON LILY LINDEN LOTUS MANGO MAPLE MARBLE MEADOW MELON MINT MOON MOSS NUTMEG OAK OLIVE ORBIT ORCHID OTTER PAPER PEACH PEARL PEBBLE PINE PLUM POND POPPY QUARTZ RAVEN REEF RIVER ROBIN SAGE SAIL SHELL SILVER SPARK SPRUCE STONE SWAN TULIP VALLEY VELVET WALNUT WILLOW WREN ZEBRA'.split(
    ' ',
  )

export const newUserCode = (): string => `${words[randomInt(words.length)] ?? ''}-${String(randomInt(10_000)).padStart(4, '0')}`

/** Returns the stored form of a code that a user entered. */
export const readUserCode = (typed: string): string => {
  const [, word = '', digits = ''] = /^\s*([a-z]{3,8})[\s-]*(\d{4})\s*$/i.exec(typed) ?? []
  return word === '' ? '' : `${word.toUpperCase()}-${digits}`
}
