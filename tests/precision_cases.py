"""Small stores, and what each question to them must, may and must not bring: our own cases of precision.

GREENHOUSE and VILLAGE are blind tests, of telling a subject from a mention and of which of two words is wanted; MUSEUM
was written against the first of these rules. docs/recall.md says what the first run of each gave.
"""

from precision_worlds import Note, World, holds, only

FIRM, THESIS = "firmware", "thesis"

GREENHOUSE = World(
    {
        "board": Note("The controller board is an ESP32-S3 with 8 MB of PSRAM.", FIRM),
        "pump": Note(
            "The irrigation pump is switched by a relay on GPIO 14 and must never run longer than 90 seconds.", FIRM
        ),
        "mqtt": Note("MQTT (Mosquitto) carries all sensor readings; topics are greenhouse/<bay>/<sensor>.", FIRM),
        "lora": Note("Remote bays without Wi-Fi talk over LoRaWAN (LW) at 868 MHz.", FIRM),
        "humidity": Note("Humidity is read from SHT45 sensors every 30 seconds and averaged over five readings.", FIRM),
        "soil": Note("Soil moisture probes drift; they are recalibrated on the first Monday of each month.", FIRM),
        "ota": Note("Over-the-air updates (OTA) are signed with Ed25519 and rolled out to one bay first.", FIRM),
        "ota-mqtt": Note("The update service depends on MQTT to announce new images.", FIRM),
        "vents-old": Note("Roof vents open at 28 degrees.", FIRM, superseded_by="vents"),
        "vents": Note("Roof vents open at 26 degrees since the tomatoes suffered.", FIRM),
        "rtos": Note("We chose Zephyr over FreeRTOS because of its device tree.", FIRM),
        "tests": Note("Hardware tests run on the bench rig every night; a failed run pages Ines.", FIRM),
        "ines": Note("Ines owns the electronics; Tomasz writes the drivers.", FIRM),
        "logs": Note("Controllers keep 2 MB of logs in flash and upload them once a day.", FIRM),
        "grafana": Note("Dashboards are in Grafana at grafana.greenhouse.example, one per bay.", FIRM),
        "influx-old": Note("Sensor history is stored in InfluxDB.", FIRM, superseded_by="timescale"),
        "timescale": Note("Sensor history is stored in TimescaleDB; InfluxDB was dropped for its licence.", FIRM),
        "power": Note(
            "On a power cut the controller runs 40 minutes from its battery and closes the vents first.", FIRM
        ),
        "corals": Note(
            "Chapter two argues that coral bleaching follows heat stress with a delay of six weeks.", THESIS
        ),
        "pump-reef": Note("The pump in the reef tank failed in May, so those samples are excluded.", THESIS),
        "stats": Note("All models are fitted in R with brms; no p-values are reported.", THESIS),
        "advisor": Note("Professor Okafor wants drafts as PDF with line numbers.", THESIS),
        "figures": Note("Figures use the viridis palette and are exported as SVG.", THESIS),
        "deadline": Note("The thesis is due on 30 September; the defence is in November.", THESIS),
        "terse": Note("Prefers short answers without a summary at the end."),
        "metric": Note("Always give measures in metric units."),
        "commits": Note("Commit messages are in English and say why, not what."),
    },
    [
        only("What is the irrigation pump connected to?", FIRM, "pump"),
        only("what do we use MQTT for?", FIRM, "mqtt"),
        only("how long may the pump run", FIRM, "pump"),
        only("what happened to the pump", THESIS, "pump-reef"),
        only("at which temperature do the roof vents open?", FIRM, "vents"),
        only("where is sensor history stored?", FIRM, "timescale"),
        only("why Zephyr and not FreeRTOS?", FIRM, "rtos"),
        only("OTA signing key type", FIRM, "ota"),
        only("which frequency does LW use?", FIRM, "lora"),
        only("who owns the electronics?", FIRM, "ines"),
        only("Grafana dashboards", FIRM, "grafana"),
        only("humidty sensor interval", FIRM, "humidity"),
        only("which colour palette do figures use", THESIS, "figures"),
        only("when is the thesis due?", THESIS, "deadline"),
        only("in what format does Okafor want drafts", THESIS, "advisor"),
        only("how often are soil probes recalibrated?", FIRM, "soil"),
        only("which microcontroller is on the board", FIRM, "board"),
        holds("humidity sensors, roof vents and the soil probes", FIRM, "humidity vents soil", "vents-old corals"),
        holds(
            "compare the ESP32 board, the irrigation pump relay and OTA updates", FIRM, "board pump ota", "pump-reef"
        ),
        holds("what depends on MQTT?", FIRM, "ota-mqtt", "influx-old"),
        holds("InfluxDB", FIRM, "timescale", "influx-old"),
        only("how do we rotate TLS certificates?", FIRM),
        only("Stripe webhook retries", FIRM),
        only("what is our parental leave policy?", FIRM),
        only("which sensors are used in the reef aquarium's lighting rig", FIRM),
        only("ok", FIRM),
        only("thanks, looks good!", THESIS),
        only("yes please go on", FIRM),
        only("kubernetes ingress annotations", FIRM),
        only("does Frobnitz support streaming?", FIRM),
        only("InfluxDB retention policy", THESIS),
    ],
)

TICKETS, PODCAST = "tickets", "podcast"

MUSEUM = World(
    {
        "elastic": Note("Elasticsearch indexes the catalogue of exhibits, about 900,000 entries.", TICKETS),
        "elastic-left": Note("We moved visitor sessions out of Elasticsearch because deletes were too slow.", TICKETS),
        "gate": Note("The gate scanners depend on the Tallinn relay to validate tickets.", TICKETS),
        "relay": Note("Tallinn relay: a small Go service that caches valid ticket numbers for six hours.", TICKETS),
        "ats": Note("Advance Ticket Sales (ATS) close fifteen minutes before each time slot.", TICKETS),
        "refunds": Note("Refunds are allowed until 24 hours before the visit and go through Adyen.", TICKETS),
        "adyen": Note("Adyen is our payment provider, also called PSP in the code.", TICKETS),
        "adyen-hook": Note("Webhooks from Adyen are verified with an HMAC and retried for two days.", TICKETS),
        "groups": Note("Group bookings need at least ten visitors and a named guide.", TICKETS),
        "prices-old": Note("An adult ticket costs 14 euros.", TICKETS, superseded_by="prices"),
        "prices": Note("An adult ticket costs 16 euros since March.", TICKETS),
        "maria-old": Note("The nightly import runs on MariaDB.", TICKETS, superseded_by="pg"),
        "pg": Note("The nightly import runs on PostgreSQL 16; MariaDB was retired in spring.", TICKETS),
        "slots": Note("Time slots are thirty minutes long and hold 120 visitors.", TICKETS),
        "kiosk": Note("The kiosk app is written in Kotlin and updated over USB.", TICKETS),
        "kiosk-print": Note("Kiosk printers jam when the paper is older than a year.", TICKETS),
        "deploy": Note("Deploys happen on Tuesdays before ten, never during school holidays.", TICKETS),
        "lena": Note("Lena decides what goes into a release; Jorge is on call in weekends.", TICKETS),
        "logs": Note("Audit logs are kept for seven years because the city requires it.", TICKETS),
        "flags": Note("Feature flags live in Unleash, and every flag has an owner and an end date.", TICKETS),
        "accents": Note("The search box ignores accents so that Miro finds Miró.", TICKETS),
        "mic": Note("Interviews are recorded with a Rode NT1 at 48 kHz.", PODCAST),
        "edit": Note("Episodes are edited in Reaper; the template is called museum-talk.", PODCAST),
        "adyen-guest": Note("An engineer from Adyen was the guest of episode 12.", PODCAST),
        "length": Note("An episode is between 25 and 35 minutes long.", PODCAST),
        "feed": Note("The feed is hosted at Castopod and mirrored to Spotify.", PODCAST),
        "tone": Note("Likes direct feedback and dislikes praise."),
        "dates": Note("Dates are written as 2026-03-14."),
    },
    [
        only("what do we use Elasticsearch for?", TICKETS, "elastic"),
        holds("why did we leave Elasticsearch?", TICKETS, "elastic-left"),
        holds("what does the gate scanner depend on?", TICKETS, "gate relay", "kiosk"),
        only("when does ATS close?", TICKETS, "ats"),
        only("PSP webhook verification", TICKETS, "adyen", "adyen-hook"),
        holds("Adyen", TICKETS, "adyen adyen-hook", "adyen-guest"),
        holds("Adyen", PODCAST, "adyen-guest", "adyen refunds"),
        only("until when are refunds allowed?", TICKETS, "refunds"),
        only("how much is an adult ticket", TICKETS, "prices"),
        only("what database does the nightly import run on?", TICKETS, "pg"),
        holds("MariaDB", TICKETS, "pg", "maria-old"),
        only("how many visitors fit in a time slot?", TICKETS, "slots"),
        only("what language is the kiosk app in?", TICKETS, "kiosk"),
        holds("kiosk", TICKETS, "kiosk kiosk-print"),
        only("why do the kiosk printers jam", TICKETS, "kiosk-print"),
        only("on which day do we deploy?", TICKETS, "deploy"),
        only("who is on call on Saturday", TICKETS, "lena"),
        only("how long must audit logs be kept?", TICKETS, "logs"),
        holds("group bookings, feature flags and refunds", TICKETS, "groups flags refunds", "kiosk logs"),
        holds(
            "how do the search box, the kiosk app and the gate scanners fit together?", TICKETS, "accents kiosk gate"
        ),
        only("minimum group size", TICKETS, "groups"),
        only("which microphone do we record with?", PODCAST, "mic"),
        only("how long is an episode?", PODCAST, "length"),
        only("where is the feed hosted", PODCAST, "feed"),
        only("fature flags", TICKETS, "flags"),
        only("Rode NT1 sample rate", PODCAST, "mic"),
        only("how are kiosk screens calibrated for Braille?", TICKETS),
        only("GraphQL schema stitching", TICKETS),
        only("what did Zorblax say about caching?", TICKETS),
        only("which insurance covers the paintings?", TICKETS),
        only("Kotlin coroutines", PODCAST),
        only("thx!", PODCAST),
        only("hm ok, go ahead", TICKETS),
        only("sourdough starter ratio", PODCAST),
    ],
)

BAKERY, CHOIR = "bakery", "choir"

VILLAGE = World(
    {
        "printer": Note("Prints labels on a Zebra ZD421 at 203 dpi.", BAKERY),
        "prefer-cash": Note("Prefers cash from regulars; cards cost 1.2 percent.", BAKERY),
        "dough": Note("The dough rests for eighteen hours at five degrees.", BAKERY),
        "rest-day": Note("Monday is the day of rest.", BAKERY),
        "mixer": Note("Mixing takes eight minutes on the second speed of the Diosna.", BAKERY),
        "mix-rule": Note("A rule of the house: no seeds in the small mixer.", BAKERY),
        "oven": Note("The oven is cleaned on Sundays, and its schedule hangs beside the door.", BAKERY),
        "cleaner": Note("Cleans the slicer after every loaf with nuts.", BAKERY),
        "order-form": Note("Orders for weddings need a deposit and ten days.", BAKERY),
        "ordering": Note("Ordering flour: by phone before noon, two pallets at most.", BAKERY),
        "deliver": Note("Delivers to the school and the two cafés by bicycle.", BAKERY),
        "fees": Note("The fees for stalls on the market are due each quarter.", BAKERY),
        "pitch": Note("Sings a quarter tone lower after the interval unless reminded.", CHOIR),
        "rehearse": Note("Rehearses on Thursdays in the parish hall.", CHOIR),
        "plan": Note("A plan for each season is printed in August.", CHOIR),
        "scores": Note("Scores are copied by Wim, never scanned.", CHOIR),
        "brief": Note("Wants answers in at most five lines."),
        "likes": Note("Prefers tables to prose where numbers are compared."),
    },
    [
        only("what are my printing preferences?", BAKERY, "prefer-cash", "likes"),
        only("what is the cleaning schedule?", BAKERY, "oven"),
        only("mixing rules", BAKERY, "mixer", "mix-rule"),
        only("delivery fees", BAKERY, "fees"),
        holds("how do we order flour?", BAKERY, "ordering"),
        holds("what do we know about mixing?", BAKERY, "mixer"),
        only("how long does the dough rest?", BAKERY, "dough"),
        only("rehearsal plan", CHOIR, "rehearse", "plan"),
        only("singing preferences", CHOIR, "likes"),
        holds("rehearsal schedule", CHOIR, "rehearse"),
        holds("what is our cleaning routine?", BAKERY, "oven cleaner"),
        only("who copies the scores?", CHOIR, "scores"),
        only("to whom do we deliver", BAKERY, "deliver"),
        only("slicer cleaning", BAKERY, "cleaner"),
        only("which label printer do we use?", BAKERY, "printer"),
        only("pension contributions", BAKERY),
        only("okay then", CHOIR),
    ],
)

WORLDS = {"greenhouse": GREENHOUSE, "museum": MUSEUM, "village": VILLAGE}
