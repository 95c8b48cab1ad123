"""English words that say nothing about what is looked for: function words, and what people say to an agent anyway."""

STOP_WORDS = frozenset(
    """
    a about above after again against all almost also although always am among an and any anybody anyone anything are
    aren't around as at away be became because been before being below between both but by came can can't cannot come
    could couldn't did didn't do does doesn't doing don't done down during each either else enough ever every everyone
    everything few for from further get gets getting give given go goes going gone got had hadn't has hasn't have
    haven't having he he'd he'll he's her here here's hers herself him himself his how how's however i i'd i'll i'm
    i've if in instead into is isn't it it'd it'll it's its itself just keep kept kind know known let let's like
    likely made make makes making many may maybe me might mine more most much must my myself near neither never no
    nobody none nor not nothing now of off often on once one only onto or other others our ours ourselves out over own
    per perhaps put quite rather really remember remind said same say says see seem seems seen shall she she'd she'll
    she's should shouldn't since so some somebody someone something sometimes soon still such take tell than that
    that's the their theirs them themselves then there there's these they they'd they'll they're they've thing things
    this those though through till to together too took toward towards under until up upon us use used uses using very
    was wasn't way we we'd we'll we're we've well went were weren't what what's whatever when when's where where's
    whether which while who who's whom whose why why's will with within without won't would wouldn't yet you you'd
    you'll you're you've your yours yourself
    lot lots continue proceed looks
    ok okay k yes yeah yep yup no nope sure thanks thank thx please pls hi hello hey bye great good nice cool fine
    perfect awesome right alright hmm oh ah lol sorry
    dont doesnt didnt cant wont isnt arent wasnt whats thats im ive id ill youre
    """.split()
)
