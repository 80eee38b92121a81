"""Given names: spellings of one name, its short forms, and names that are ordinary English words.

The table is our own list of common English and international forms. A name outside of it is matched by its spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from remembrancer.language.lexical import fold

_FAMILIES: Final = """
aaron: ron ronnie
abdullah: abdul abdou
abigail abigayle: abby abbie gail
abraham ibrahim avraham: abe abie bram avi ibo
adelaide: addie ada heidi
adrian adrien hadrian: ade adi
adriana adrianna: ana adri
agnieszka: aga agi
aikaterini: katerina kate
alan allan allen alain: al
albert alberto albrecht: al bert bertie beto
alejandra: ale sandra
alejandro: ale alex jandro
aleksandra alexandra alessandra: alex lexi lexie sandra sandy sasha ola ale xandra alix
alexander aleksander alexandre aleksandr alexandr alessandro iskander: alex alec alek al sandy sasha xander sacha lex
alexis alexia: alex lexi lexie
alfred alfredo: al alf alfie fred freddy
alice alicia alison allison: ali allie ally
aloysius alois: al lou
amelia amelie: amy millie mia
amanda: mandy manda
anastasia anastasiya: nastya ana stacy stasia tasia nastia
andrea: andi andy dea
andrew andreas andrei andrey andré andrés andrzej andrija: andy drew dre andi andriy
angela angelina angelica: angie ang gela
ann anne anna ana: annie nan nancy anya ania anka anouk anushka nina annika
annabel annabelle anabel: anna bella belle
anthony antony antonio anton antoine antonius: tony ant toni toño tonio
antonia antonina: toni tonia nina
archibald: archie baldy
arnold arnaud arnaldo: arnie
arthur arturo artur: art artie turo
augustus augustin augustine august: gus augie
barbara barbra: barb barbie babs basia
bartholomew bartholomäus bartłomiej bartosz: bart bartek
beatrice beatrix beatriz: bea bee trixie
benedict benedikt benoit: ben benny
benjamin: ben benji benny benjy
bernadette: bernie detta
bernard bernhard bernardo: bernie bern
bertram: bert bertie
bogdan: bodya
bradley: brad
brandon brendan: bran
brian bryan: bri
bridget brigitte birgit brigid: bridie biddy gitta
caitlin kaitlyn katelyn: cait kate katie
caleb: cal
calvin: cal
cameron: cam
candace candice: candy
carlos: carlitos charlie
carol carole carolyn caroline carolina karoline karolina: carrie caro lina caz
cassandra kassandra: cass cassie sandra
catherine katherine katharine kathryn katharina katarina katerina katarzyna caterina catalina ekaterina yekaterina
  catharina kateryna: kate katie kathy cathy cath kath kat kit kitty katja katya kasia trina katrin käthe cat cata
cecilia cecily cecile: cece celia cissy ceci
charles karl carl carlo karel: charlie chuck chas chaz chip charley
charlotte: charlie lottie lotte char
chiamaka: amaka
chinedu: nedu edu
chinonso: nonso
chloe khloe: clo
christian kristian: chris christo
christina kristina christine kristine cristina krystyna kirsten kirstin: chris chrissy christy tina kris krissy kristy
  krysia stina
christopher kristopher christoph christophe cristóbal krzysztof christoffer: chris kit topher kris christo toph
  krzysiek
clara klara claire clare: clary
clarence: clare clancy
clayton: clay
clifford clifton: cliff
constance konstanze constanza: connie
constantine konstantin constantin konstantinos: kostya costa gus dinos kostas
cornelius cornelis: neil cor kees connie
curtis: curt kurt
cynthia: cindy cyn
cyril: cy
daniel daniil danilo: dan danny dani danya
daniela daniella danielle: dani danny ella
david dawid davide davit: dave davey dawud dov
deborah debora: deb debbie debby debs
delores dolores: lola dee
dennis denis: den denny
derek derrick dietrich: rick dirk
diana diane dianne: di
diego: dieguito
dimitri dmitri dmitry dmitriy dimitrios dimitris dmytro: dima mitya dimos mitch
dominic dominik dominique: dom nick domi niko
donald: don donnie donny
dorothy dorothea dorota: dot dottie dolly dory thea dora
douglas: doug dougie
dragan: gane
duncan: dunc
edith: edie
edmund: ed eddie ned
edward eduard edouard eduardo edvard: ed eddie ned ted teddy edu lalo ward
edwin: ed eddie win
eleanor elinor eleonora eleonore: ellie nell nora ella nelly lenore elle
elena helena helen helene jelena ilona ileana: ellie nell lena lenka nelly alyona leni lenochka
elias elijah ilias ilya eliyahu: eli lije
elizabeth elisabeth elisabetta elisabet elizaveta erzsébet elżbieta: liz lizzie lizzy beth betty betsy eliza lisa
  elise ellie libby bess liza lilibet elsa elsie lise ilse lisbeth liesl liesel ela
isabel isabella isabelle isobel izabela: izzy bella isa belle
ellen: ellie nell
emanuel emmanuel immanuel manuel manoel: manny manu emma
emanuela manuela: manu ela
emily emilie emilia emiliya: em emmy millie emi mila
emma: em emmy
enrique henrique: kike quique rick
eric erik erick: rick
erica erika: ricki
ernest ernst ernesto: ernie
esther ester: essie hettie
ethan: eth
eugene evgeny yevgeny evgeni eugen eugenio: gene zhenya genya
evelyn evelin eveline: eve evie lyn
ezekiel: zeke
fatima fatma fatimah: fati fatou
federico frederico: fede rico fred
fernando: nando fer
filippo: pippo
florence: flo flora flossie
frances francesca francisca franziska françoise franciska: fran frannie francie cesca paca franzi chesca fanny
francis francisco franz françois francesco ferenc: frank frankie fran paco pancho franky cesco feri kiko
franklin: frank frankie
frederick frederic friedrich frederik fryderyk: fred freddy freddie fritz rick
frederica friederike frederike: freddie rike rikke
gabriel: gabe gab gabi
gabriela gabriella gabrielle: gabi gaby gabby ella elle
genevieve: gen evie ginny
geoffrey jeffrey jeffery geoff: jeff
george georg georges jorge giorgio georgios jerzy györgy: georgie geordie yorgos jurek gio gyuri
gerald gerard gerhard gerardo: gerry jerry gerd
geraldine: gerry
gertrude gertrud: gert trudy
giacomo: mino
gilbert gilberto: gil bert beto
giovanni: gianni gio nino vanni
giulia: giuli
giuseppe: beppe pino peppe
grace graciela: gracie gracia
gregory gregor grigori grzegorz gregorio: greg gregg grisha grzesiek goyo
guadalupe: lupe lupita
guillermo: memo guille willy
gwendolyn gwendoline: gwen wendy
harold harald: hal harry
harriet henrietta henriette: hattie etta harry
harrison: harry
hassan hasan:
heather: heath
hector héctor: tito
heinrich hendrik henrik: heinz heiner henk rik hinnerk
henry henri: harry hank hal
herbert: herb bert
howard: howie
hubert: hugh bert
hugo hugh: huw
humphrey: humph
ian iain:
ignacio ignatius ignacy: nacho iggy
irene irena irina: rene ira rena
isaac isaak itzhak yitzhak: ike zac
isidore isidoro: izzy
ivan: vanya ivo
jacob jakob jakub yakov yaakov: jake jack coby kuba jaap
jacqueline: jackie jacqui
james: jim jimmy jamie jem jimbo
jane janina: janie
janet: jan
jean jeanne: jeannie
jasmine yasmin yasmine jasmin: jas jazz yas
jason: jay jase
javier xavier: javi xavi
jennifer: jen jenny jenn
jeremy jeremiah jeremias: jerry jem
jerome: jerry
jessica jessika: jess jessie
joachim joaquin joaquín: jochen achim
joan joanna joanne johanna joana: jo joey annie hanna asia joasia hanne
john jon johannes johann johan: johnny jack jackie hans jan hannes
jonathan jonathon jonatan: jon jonny nathan jonty john johnny
jordan: jordy
jose josé: pepe chepe
joseph josef józef: joe joey jo sepp jozef
josephine josefine josefina: jo josie fina josy pepa
joshua: josh
juan: juanito
juliana julianna: julie jules liana
julia julie: jules juju
juliet juliette giulietta: jules
julian julien julius julio: jules
justin justinian: jus
kenneth: ken kenny
kevin: kev
kimberly kimberley: kim kimmy
lakshmi laxmi:
laura: laurie lori
lauren: laurie lori
lawrence laurence lorenz lorenzo laurent laurens: larry laurie lars enzo renzo
leonard leonardo leonhard: leo len lenny leon nardo
leopold: leo poldi
leslie lesley: les
lillian lilian liliana: lily lil lilly
louis luis luigi lewis: lou louie gigi
ludwig ludovic: lutz ludo
louise luisa louisa luise: lou lulu lu
lucas lukas luca luke lukasz łukasz: luc luk
lucia lucy lucie: lu luce
lucinda: cindy lucy
ludmila lyudmila: lyuda mila luda
madeleine madeline madelyn magdalena magdalene: maddie maddy mads magda lena lene
malcolm: mal
marcus markus marco marcos marek: marc mark
margaret margareta margarete margarita marguerite małgorzata margherita: maggie meg megan peg peggy marge margie madge
  greta gretchen rita daisy gosia mags greet margo margot
maria marie marija mariya mary: molly polly mia mimi masha mitzi marika maja mariel mari maryse
marianne marianna mariana: mari nan
marilyn: mari
mario: marito
martha marta: marty mattie
martin martijn marten: marty tin
mathilda matilda mathilde: tilly mattie tilda
matthew matthias mateo matteo matthieu mateusz mathieu matthijs mats mattias: matt matty teo mat thijs hias
maurice moritz mauricio maurizio: mo maury mauro
maximilian maximiliano maximilien maxime maxim maksim maksym maxwell: max
megan meghan meaghan: meg meggie
melanie melania: mel
melissa: mel lissa missy
mercedes: merche mercy
michael mikael mikhail michal michel michele miguel mihai mikko mykhailo mihail: mike mickey mick mikey misha mick
  mich michi miki mitch
michelle michaela micaela mikaela: shelly micky mica
mildred: millie
millicent: millie
miroslav: mirek slavko
mitchell: mitch
mohammed muhammad mohamed mohammad mehmet mahomet muhammed mohamad: mo hamid moe moh hammad
monica monika: moni nika
montgomery: monty
moses moshe moïse musa: mo moe moishe
nadezhda: nadia nadya
natalie natalia nataliya natalya nathalie: nat nata natasha talia tasha
nathan nathaniel natanael: nat nate
nicholas nicolas nikolas nikolaus niklas niccolo nicolás nikolai mikołaj nikolaos nicholai: nick nicky nico niko klaus
  claus kolya nikos
nicole nicola nicolette: nicky nikki nic coco
ngozi: goz
norbert: bert norb
norman: norm
octavia: tavy
oleksandr: sasha oleks sashko
oliver olivier: ollie oli
olivia: liv livvy ollie libby
oluwaseun: seun
oluwatobi oluwatobiloba: tobi
olga: olya
oscar oskar: ozzy
oswald: oz ozzy
pamela: pam pammy
patricia patrizia: pat patty pattie tricia trish patsy
patrick patricio padraig patrik: pat paddy pato
paul paulo pablo pavel paolo paweł: pauly pasha pauli
paula: pauli
paulina pauline: polly pauli
penelope: penny pen
percival: percy
peter pedro pierre pietro piotr petr petros pieter petra: pete petey piet petya perico
philip phillip philipp filip philippe felipe: phil pip flip pippo
philippa filippa: pippa pip
priscilla: cilla prissy
priyanka: pri priya
prudence: prue
rachel raquel rachael rahel: rach rae shelly
radoslav radosław: rado radek
rafael raphael raffaele: rafa raf rafi
rajesh rajendra: raj
ramón ramon: moncho
randall randolph: randy
ravindra ravichandran: ravi
raymond raimund ramon raimundo: ray
rebecca rebekah rebeca: becky becca beck bex
regina: gina reggie
reginald reynold: reg reggie
rene renata renate: nata
ricardo riccardo: rico ricky cardo
richard ryszard: rick ricky dick rich richie ritchie
robert roberto ruprecht: bob bobby rob robbie bert robby berto robin bobbie rupert
roberta: bobbie robbie berta
roderick rodrigo: rod roddy rigo
rodney: rod
roger rüdiger rogelio: rodge
roland rolando orlando: rollie roly rolly
ronald ronaldo reinhold: ron ronnie ronny
rosalind rosalyn: roz ros rosie
rosemary rosemarie: rosie rose romy
rosa rose: rosie rosita
roxanne roxana roksana: roxy
rudolph rudolf: rudy rudi
russell: russ rusty
salvador salvatore: sal toto chava turi
samantha: sam sammy sami
samuel samuele shmuel: sam sammy
sandra: sandy
sara sarah: sally sadie sari
sebastian sebastien sebastián: seb bas basti bastian seba
sergei sergey sergio serge serhiy sergiusz: seryozha serhii sergo checo
sean shaun shawn seán: shay
sharon: shaz shari
sheila: shay
sidney sydney: sid syd
simon simeon shimon szymon: si sim simi
simone simona: mona
siobhan siobhán: shiv
sophia sofia sophie sofie zofia sofya: soph sonia sonja sonya zosia sofi fia
stanislav stanislaw stanisław stanislaus stanley: stan stas staś staszek
stella estelle estella: essie
stephanie stefanie stefania stéphanie: steph stef steffi stevie stefi fanny
stephen steven stefan stephan esteban étienne stefano istvan szczepan: steve stevie steph stef pista
stuart stewart: stu stew
susan susanna susanne suzanne susana zuzanna: sue susie suzie suzy sanna zuza sanne suze
svetlana: sveta lana
sylvia silvia: syl silvi
sylvester: sly vester
tabitha: tabby
tadeusz thaddeus: tad tadek thad
tatiana tatyana tetiana: tanya tania tata
terence terrence: terry tel
theodore theodor teodor fyodor feodor: ted teddy theo fedya ned teo
theodora teodora: dora thea teddy
theresa teresa thérèse therese: terry tess tessa teri tere resi
thomas tomas tomás tomasz tommaso: tom tommy thom tomek toma
tiffany: tiff
timothy timotheus timofey: tim timmy timo
tobias tobiah: toby tobi tobe
umberto humberto: beto berto
ursula orsolya: ulla ursel orsi uschi
valentina: val vale tina
valentin valentine valentino: val vale
valerie valeria: val lera
vanessa: nessa ness van
veronica veronika véronique: ronnie vera roni nika vero
victor viktor vittorio: vic vik vitya
victoria viktoria vittoria viktoriya: vicky vicki tori vika vix vikki
vincent vincenzo vicente: vince vinny vin enzo chente
virginia: ginny ginger gina
vladimir volodymyr wladimir: vlad vova volodya vladi
vladislav władysław: vlad slava
vivian vivienne viviana: viv vivi
walter walther gualtiero: walt wally wat
wilhelmina: mina minnie willa billie helma
william wilhelm willem guillaume guglielmo: will bill billy willie liam willy wim guille gui
winifred: winnie freda fred
winston: win winnie
wojciech: wojtek
yusuf jusuf yousef youssef joseph iosif yosef josip: joe yossi jusef yus
yuri yuriy jurij: yura
zachary zachariah zacharias zechariah: zach zack zac zak
zsuzsanna: zsuzsi
zoe zoë zoey: zo
"""
"""One name in a line, which goes on in lines that begin with blanks: its spellings, then after a colon its short forms.
These mean the same person as any of the spellings; two short forms need not mean the same person (Liz and Beth).
"""

WORDS: Final = frozenset(
    """
    ace amber angel april art ash aurora autumn barb basil bay bea bear bill bird blaze bliss bob brand brandy bread
    bride brook brooks buck bud buddy candy card care carol carry case cash cast cat chance charity chase chelsea
    cherry chip chuck clay cliff clover coal cold colt cookie coral cost crystal cutter dad daily dairy daisy dale
    dare date dawn day dean dear dee deed den desk dick die dine dolly dolphin done door dot dove drew duke earl early
    earn east easy ebony eden elder else ember eve even ever eye fair faith fall far fate fawn fed fern field file fin
    fine fire fisher fleet flint flip flora foot forest foul fox frank franklin free fry full gale game gem gene
    gentle gentry ginger girl glad glen gold gone good grace grant gray great green guy hale hall hand harm harper hat
    haven hazel hear heat heath heather hell herb here hide hill holly home hope hour hunter ice idea indigo iris
    ivory ivy jack jade jam jar jasmine jay jean jet jewel job join jolly josh journey joy june jury just justice kid
    kind king kit lacy lady lake lamb lance land lane large lark last late laurel law lay lead leave lend less letter
    level lie life light lily line link list little long lose lost lot lotus loud love luck lucky lunch mace mad mail
    main major make male mall man many march mare marine mark marker market marry mars marsh mason mat math may maybe
    mayor meadow meal mean meet melody men mercy merry mess met mild mile miles mill mind mine mini miracle misc miss
    mist misty mom monday money month mood moon moral more most mother mum mummy name near neat need net new news nice
    nick night nine noble none nor norm north note nova nurse oak ocean old olive one opal open order own page paid
    pain pair pal pale pan pants park party past pat patience pay peace peak pearl pen penny people pepper pet petal
    pierce pile pill pink pip piper place plan play poll pool poor poppy port porter pour praise precious prince
    princess puppy queen rain rainy rally ran rare rate raw ray read real red reed reef reign rent rest rex rich rick
    ridge ring rise river road rob robin rock rocky rod role roll roman room rope rose rosemary rosy rowan ruby rude
    rue rum run rush rust rusty sad safe sage said sail saint sale sally salt same sand sandy sane savannah saw say
    scarlet scout seal seen sell send sent set shade shape share shave she shine ship shop shut sick side sign silly
    sing sister site skip sky slate slow soda sofa sol some son song sonny sore sorry sort soul spent spike spring
    star state steep step sterling stew still stone stop storm story sue summer sun sunday sung sunk sunny sure tab
    tale talk tall tame tan tape tea team tear teddy tell ten tent term thing time tin tiny tire toe told tone took
    tore torn town toy trace train tree trinity trip true truth tucker tuesday turn twin type unity use van vase
    velvet very vine viola violet wade wait walk walker wall want war ward warm warn warren water way wear web week
    well went were west wet what white wide wife will willow win wine winter wish wolf woman wood woody word work worn
    worth wren write yard year yes yet young zeal
    """.split()
)
"""Ordinary English words that are names, or differ little from one. In small letters and at the beginning of a
sentence, they are names only where the words around them say so.
"""


class GivenName(NamedTuple):
    """The families in which a form is a spelling, and those in which it is a short form."""

    spellings: frozenset[int]
    shorts: frozenset[int]

    def may_be(self, other: GivenName) -> bool:
        """Whether both may name one person: two spellings of a name, or a spelling and a short form."""
        return not (
            self.spellings.isdisjoint(other.spellings | other.shorts) and self.shorts.isdisjoint(other.spellings)
        )


def given_name(folded: str) -> GivenName | None:
    """The entry of a name, spelled as `lexical.fold` returns it. None: the table does not have it."""
    return _table().get(folded)


@cache
def _table() -> Mapping[str, GivenName]:
    spellings: dict[str, set[int]] = {}
    shorts: dict[str, set[int]] = {}
    for family, line in enumerate(_FAMILIES.strip().replace("\n  ", " ").splitlines()):
        for forms, of in zip(line.split(":"), (spellings, shorts), strict=True):
            for form in forms.split():
                of.setdefault(fold(form), set()).add(family)
    return {
        form: GivenName(frozenset(spellings.get(form, ())), frozenset(shorts.get(form, ())))
        for form in spellings.keys() | shorts.keys()
    }
